package tasks

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// The urgency of a finalizer removal depends on who waits for it. While the Job continues, the removal has ordinary
// urgency. When the Job ends, it delays the terminal condition; after that nobody waits for it. When the pod or the Job
// is being deleted, the client that deletes it waits. The urgency is not in the log: no decision or replay depends on
// it.

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

// Refresh sets the priority of tasks as the state w gives it now, before the executor gets them.
func Refresh(w *projector.World, all []events.Task) {
	for i := range all {
		if s := w.Subject(all[i].Stream); s != nil {
			all[i].Priority = priority(s, all[i].Command)
		}
	}
}

// Hastened returns the finalizer removals of s in flight that a new record makes more urgent: the Job or the pod is
// being deleted, or the Job ends. facts are the content of the record, life is the log's ID and epoch. before is the
// priority of the Job's removals before the record.
func Hastened(life events.Identity, s projector.Subject, before events.Priority, facts events.Facts) (all []events.Task) {
	if seen, ok := facts.(*events.PodSeen); ok && seen.Deleted != 0 && s != nil {
		all = appendDrop(all, life, s, projector.PodOf(s, seen.UID))
	}
	j, ok := s.(*projector.Job)
	if !ok {
		return all
	}
	if now := OfRemovals(j); now == 0 || (before != 0 && before <= now) {
		return all
	}
	for _, p := range j.Pods() {
		all = appendDrop(all, life, j, p)
	}
	return all
}

// appendDrop appends to all the task that removes the pod's finalizer, if it is in flight and was not refused.
func appendDrop(all []events.Task, life events.Identity, s projector.Subject, p *projector.Pod) []events.Task {
	if p == nil || p.Drop() == nil || p.Drop().InBackoff() {
		return all
	}
	return append(all, Of(life, s, p.Drop().Name(), p.Drop().Command))
}

// OfRemovals returns the priority that a Job's state gives to its finalizer removals; 0 for the usual one.
func OfRemovals(s projector.Subject) events.Priority {
	if j, ok := s.(*projector.Job); ok {
		return dropPriority(j, j, "")
	}
	return 0
}
