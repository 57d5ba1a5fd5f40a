package projector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// leave subtracts a pod from the Job's counts of pods (Tally) and from the pod sets. Call it before the pod changes,
// and enter after the change.
func (j *Job) leave(p *Pod) {
	p.touched = true
	j.tell(p, -1)
}

// tell adds a pod to the Job's counts and pod sets, or removes it if sign is -1. The field p.in says what the pod adds.
func (j *Job) tell(p *Pod, sign int32) {
	j.count(p, sign)
	j.hold(p, sign)
	j.index.file(p, sign)
	switch {
	case sign < 0:
		delete(j.unowned, p.UID)
	case p.Owner == "" && !p.Gone && j.Stream.Kind == events.StreamJob:
		if j.unowned == nil {
			j.unowned = map[types.UID]*Pod{}
		}
		j.unowned[p.UID] = p
	}
}

// update runs change, which modifies the pod, and keeps the Job's counts and pod sets consistent with the pod.
func (j *Job) update(p *Pod, change func()) {
	j.leave(p)
	change()
	j.enter(p)
}
