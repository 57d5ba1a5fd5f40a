package loop

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// Unfinished returns up to `most` unfinished Jobs that this controller manages: first the Jobs in the log, oldest
// first, then Jobs whose first observation is still in q. It may be called only between turns.
func (l *Loop) Unfinished(q *Queue, most int) []events.JobRef {
	var out []events.JobRef
	for _, j := range l.world.Jobs() {
		if len(out) == most {
			return out
		}
		if j.Known() && j.Managed && !j.Observed() && !j.Gone && j.Deleted == 0 && !j.Finished() && j.Ref.Name != "" {
			out = append(out, j.Ref)
		}
	}
	fresh := map[types.UID]bool{} // for each Job in the queue, whether its newest version is unfinished
	var order []events.JobRef
	for _, in := range q.waiting() {
		if in.Observation == nil {
			continue
		}
		ref := in.Observation.Job
		switch f := in.Observation.Facts.(type) {
		case *events.JobSeen:
			if _, met := fresh[ref.UID]; !met {
				order = append(order, ref)
			}
			fresh[ref.UID] = f.Managed && !l.settings.Observes(f.ManagedBy) && f.Deleted == 0 && !finished(f.Status)
		case *events.JobGone:
			fresh[ref.UID] = false
		}
	}
	for _, ref := range order {
		if len(out) < most && fresh[ref.UID] && !l.knows(ref.UID) {
			out = append(out, ref)
		}
	}
	return out
}

func (l *Loop) knows(uid types.UID) bool {
	if j := l.world.Job(events.JobStream(uid)); j != nil && j.Known() {
		return true
	}
	return l.world.Retired(events.JobStream(uid)) != nil
}

func finished(s *events.JobStatus) bool {
	if s == nil {
		return false
	}
	for _, c := range s.Conditions {
		if (c.Type == status.Complete || c.Type == status.Failed) && c.Status == "True" {
			return true
		}
	}
	return false
}
