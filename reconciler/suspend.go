package reconciler

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// suspension is the condition that a change of spec.suspend asks for; nil when the published one is right. A Job that
// ends or is deleted is neither suspended nor resumed (J-046). Suspending waits until no create is in doubt (J-149);
// its pods go at once, uncounted, as surplus (J-078).
func (p *plan) suspension() *events.JobCondition {
	j := p.job
	if !p.wantsPods() {
		return nil
	}
	now := p.now.Second()
	c := events.JobCondition{Type: status.Suspended, Since: now, Probed: now}
	switch suspended := j.Base.True(status.Suspended); {
	case j.Spec.Suspend && !suspended && len(j.Creates()) == 0 && !p.completesInstead():
		c.Status, c.Reason, c.Message = "True", string(JobSuspended), "Job suspended"
	case !j.Spec.Suspend && suspended:
		c.Status, c.Reason, c.Message = "False", string(JobResumed), "Job resumed"
	default:
		return nil
	}
	changed := c // so that only a condition which changes needs memory of its own
	return &changed
}

// suspend adds to a status write what suspending or resuming asks for. Both change the start time in the write that
// changes the condition, as the server demands (J-148, J-151, J-226).
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

// completesInstead reports whether suspending completes the Job: it has enough successes, and the active pods are being
// removed. The built-in's sync finds it complete then, and says nothing of a suspension (J-160). A removal in backoff
// keeps its pod active, and the Job is suspended (J-150).
func (p *plan) completesInstead() bool {
	t := p.job.Tally()
	return enough(p.job) && int(t.Active) == int(t.Going)+len(p.removing)
}
