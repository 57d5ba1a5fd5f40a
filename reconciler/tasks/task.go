package tasks

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// Of returns the task for the command c about s, with all that the executor needs to send it. life is the log's ID and
// epoch at the time of the decision. name is the command's ID: the record of the decision, and the command's place in
// it.
func Of(life events.Identity, s projector.Subject, name events.CommandID, c events.Command) events.Task {
	t := events.Task{Name: name, Life: life, Stream: s.ID(), Job: s.Reference(), Command: c, Priority: priority(s, c)}
	if uid := events.PodOf(c); uid != "" {
		t.Pod = podRef(s, uid)
	}
	switch s := s.(type) {
	case *projector.Retired:
		t.Base = s.Version
	case *projector.CronJob:
		t.Base = s.Seen.Version
	}
	j, ok := s.(*projector.Job)
	if !ok {
		return t
	}
	t.ManagedBy, t.Base, t.Workload, t.PodGroup = j.ManagedBy, j.Version, j.Group.Workload, j.Group.PodGroup
	if w, ok := c.(*events.WriteStatus); ok {
		body := j.Base.With(&w.Change)
		t.Status, t.Base = body.Record(), w.Base
	}
	return t
}

func podRef(s projector.Subject, uid types.UID) events.PodRef {
	ref := events.PodRef{UID: uid}
	if p := projector.PodOf(s, uid); p != nil {
		ref.Name, ref.Unowned = p.Name, p.Owner == ""
	}
	return ref
}

// priority returns the current priority of a command; 0 for the usual one of its kind.
func priority(s projector.Subject, c events.Command) events.Priority {
	j, _ := s.(*projector.Job)
	if drop, ok := c.(*events.DropFinalizer); ok {
		if p := dropPriority(s, j, drop.Pod); p != 0 || j == nil || !j.ManyHeld() {
			return p
		}
		return events.PriorityUnblock // before further creations: the Job's end waits for these finalizers
	}
	if create, ok := c.(*events.CreatePod); ok && j != nil && isDue(j, create) {
		return events.PriorityDue
	}
	write, ok := c.(*events.WriteStatus)
	if ok && j != nil && events.PriorityOf(c) > events.PriorityEnd && (j.Ending() || status.SaysEnd(write.Change.Conditions)) {
		return events.PriorityEnd
	}
	return 0
}

// isDue reports whether a pod creation is urgent: the Job has no pod yet, or the pod replaces a failed one whose
// backoff is over. Slow start limits a Job's first pods (J-057). Why not "no active pod": if pods end at once, this is
// nearly always true, and all creations would precede the finalizer removals that the Job's end waits for.
func isDue(j *projector.Job, c *events.CreatePod) bool {
	if j.PerIndex {
		return c.IndexFailures+c.IndexIgnoredFailures > 0 || j.PodCount() == 0
	}
	return j.PodBackoffUntil() != 0 || j.PodCount() == 0
}
