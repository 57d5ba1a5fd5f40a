package loop

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// The urgency of a finalizer removal depends on what waits for it. While the Job goes on, it is one of many. When the
// Job ends, it delays the terminal condition; after that nothing waits for it. When the pod or the Job is under
// deletion, the client waits for it. Urgency is not in the log: no decision or replay depends on it.

func dropPriority(s projector.Subject, j *projector.Job, pod types.UID) events.Priority {
	p := projector.PodOf(s, pod)
	switch {
	case p != nil && p.Deleted != 0, j != nil && j.Deleted != 0 && !j.Gone:
		return events.PriorityDeletion
	case j != nil && (j.Finished() || j.Gone):
		return events.PriorityLeft
	case j != nil && j.Ending():
		return events.PriorityEnd
	}
	return 0
}

// refresh sets the current urgency of tasks before they are handed out.
func (l *Loop) refresh(tasks []events.Task) {
	for i := range tasks {
		if s := l.world.Subject(tasks[i].Stream); s != nil {
			tasks[i].Priority = priority(s, tasks[i].Command)
		}
	}
}

// press raises the urgency of finalizer removals in flight after a record: the Job or pod is under deletion, or the
// Job ends. before is the Job's former urgency.
func (l *Loop) press(s events.Stream, before events.Priority, facts events.Facts) {
	subject := l.world.Subject(s)
	if seen, ok := facts.(*events.PodSeen); ok && seen.Deleted != 0 && subject != nil {
		l.pressDrop(subject, projector.PodOf(subject, seen.UID))
	}
	j, ok := subject.(*projector.Job)
	if !ok {
		return
	}
	if now := jobPriority(j); now == 0 || (before != 0 && before <= now) {
		return
	}
	for _, p := range j.Pods() {
		l.pressDrop(j, p)
	}
}

// jobPriority returns the urgency of a Job's finalizer removals, as far as it depends on the Job.
func jobPriority(s projector.Subject) events.Priority {
	if j, ok := s.(*projector.Job); ok {
		return dropPriority(j, j, "")
	}
	return 0
}

// pressDrop raises the urgency of a pod's finalizer removal, if the executor has it.
func (l *Loop) pressDrop(s projector.Subject, p *projector.Pod) {
	if p == nil || p.Drop() == nil || p.Drop().InBackoff() {
		return
	}
	l.hastened = append(l.hastened, l.task(s, p.Drop().Name(), p.Drop().Command))
}

// Hastened returns the tasks that have become more urgent since its last call.
func (l *Loop) Hastened() []events.Task {
	out := l.hastened
	l.hastened = nil
	return out
}
