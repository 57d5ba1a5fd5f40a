package job

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/reconciler"
)

// suspension returns the Suspended condition that spec.suspend asks for; nil if the published one is right. A Job that
// ends or is deleted is neither suspended nor resumed (J-046). A suspension waits until no create is in doubt (J-149);
// the pods are removed at once as surplus, uncounted (J-078).
func (p *plan) suspension() *events.JobCondition {
	j := p.job
	if !p.wantsPods() {
		return nil
	}
	now := p.Now.Second()
	c := events.JobCondition{Type: status.Suspended, Since: now, Probed: now}
	switch suspended := j.Base.True(status.Suspended); {
	case j.Spec.Suspend && !suspended && len(j.Creates()) == 0 && !p.completesInstead():
		c.Status, c.Reason, c.Message = "True", string(reconciler.JobSuspended), "Job suspended"
	case !j.Spec.Suspend && suspended:
		c.Status, c.Reason, c.Message = "False", string(reconciler.JobResumed), "Job resumed"
	default:
		return nil
	}
	changed := c // only a changed condition escapes to the heap
	return &changed
}

// suspend adds the Suspended condition to a status write. The same write sets or clears the start time, as the server
// demands (J-148, J-151, J-226).
func (p *plan) suspend(c *events.StatusChange) {
	condition := p.suspension()
	if condition == nil {
		return
	}
	c.Conditions = append(c.Conditions, *condition)
	if p.job.Spec.Suspend {
		c.ClearStartTime = p.job.Base.StartTime != 0
	} else {
		c.StartTime = p.job.Start.Second()
	}
}

// completesInstead reports whether a suspension completes the Job: it has enough successes, and its active pods are
// being removed. The built-in's sync then finds it complete and reports no suspension (J-160). A removal in backoff
// keeps its pod active, and the Job is suspended (J-150).
func (p *plan) completesInstead() bool {
	t := p.job.Tally()
	return enough(p.job) && int(t.Active) == int(t.Going)+len(p.removing)
}
