package loop

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// How urgent a command is depends on what waits for it by now. A finalizer that may go is one of many while its Job
// goes on. When the Job ends it stands between the Job and its terminal condition, and after that nobody waits for it.
// When the pod or the Job is deleted, whoever did that waits for it. This is no fact of the log: no decision and no
// replay depends on it.

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

// refresh gives tasks that are handed out the urgency of now.
func (l *Loop) refresh(tasks []events.Task) {
	for i := range tasks {
		if s := l.world.Subject(tasks[i].Stream); s != nil {
			tasks[i].Priority = priority(s, tasks[i].Command)
		}
	}
}

// press takes notice that what a record says may make finalizers more urgent that are on their way: the Job is deleted,
// or ends, or the pod is deleted. before is how urgent those of the Job were.
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

// jobPriority is how urgent the finalizers of a Job's pods are, as far as the Job says.
func jobPriority(s projector.Subject) events.Priority {
	if j, ok := s.(*projector.Job); ok {
		return dropPriority(j, j, "")
	}
	return 0
}

// pressDrop makes the removal of a pod's finalizer more urgent, if it is in the executor's hands.
func (l *Loop) pressDrop(s projector.Subject, p *projector.Pod) {
	if p == nil || p.Drop() == nil || p.Drop().InBackoff() {
		return
	}
	l.hastened = append(l.hastened, l.task(s, p.Drop().Name(), p.Drop().Command))
}

// Hastened are the tasks that have become more urgent since it was asked last.
func (l *Loop) Hastened() []events.Task {
	out := l.hastened
	l.hastened = nil
	return out
}
