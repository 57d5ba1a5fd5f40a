package projector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// leave subtracts what the pod adds to the tallies. Call it before the pod changes, and enter afterwards.
func (j *Job) leave(p *Pod) {
	p.touched = true
	j.tell(p, -1)
}

// tell adds the pod to the tallies and pod sets, or removes it if sign is negative. What the pod adds is p.in, its
// share.
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

// update changes a pod and keeps the tallies consistent with it.
func (j *Job) update(p *Pod, change func()) {
	j.leave(p)
	change()
	j.enter(p)
}
