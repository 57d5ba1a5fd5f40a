package job

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/reconciler"
)

// suspension returns the Suspended condition to write for spec.suspend; nil if the published one is right. A Job that
// ends or is being deleted is neither suspended nor resumed (J-046). The condition becomes True only when no pod
// creation has an unknown outcome (J-149). The pods are removed at once as surplus, without being counted (J-078).
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
	changed := c // the copy is allocated only when there is a condition to write
	return &changed
}

// suspend adds the Suspended condition to the status write c. The server demands that the same write sets or clears the
// start time (J-148, J-151, J-226).
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

// completesInstead reports whether a Job that is to be suspended completes instead: it has enough successes, and all
// its active pods are being removed. Then the built-in controller, too, finds it complete and reports no suspension
// (J-160). A pod whose removal is in backoff stays active, so the Job is suspended (J-150).
func (p *plan) completesInstead() bool {
	t := p.job.Tally()
	return enough(p.job) && int(t.Active) == int(t.Going)+len(p.removing)
}
