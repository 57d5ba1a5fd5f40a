package reconciler

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// end is how a Job ends: an interim condition first, and a terminal one with the same reason and message when nothing
// of it runs any more (J-162).
type end struct {
	rule              string
	interim, terminal string
	reason            events.Reason
	message           string
	stored            bool // the interim condition is in the published status
}

func (e *end) failure() bool { return e.terminal == status.Failed }

func failure(reason events.Reason, message string) *end {
	return &end{interim: status.FailureTarget, terminal: status.Failed, reason: reason, message: message}
}

// outcome is one way in which a Job may end; holds gives nil while it does not apply.
type outcome struct {
	name  string
	holds func(*plan) *end
}

// Explains reports whether what is known of the job, but for what is stored of how it ends, makes it end at time now as
// a failure or a success for that reason.
func Explains(job *projector.Job, now events.Time, failure bool, reason events.Reason) bool {
	p := &plan{job: job, now: now, explaining: true}
	for _, o := range outcomes {
		if e := o.holds(p); e != nil && !e.stored && e.failure() == failure && e.reason == reason {
			return true
		}
	}
	return false
}

// decideOutcome finds how the Job ends, if it does.
func (p *plan) decideOutcome() {
	for _, o := range outcomes {
		if e := o.holds(p); e != nil {
			if p.claiming && !e.stored {
				return // nothing new is found while it is not certain which pods are the Job's (J-018)
			}
			e.rule = o.name
			p.end = e
			return
		}
	}
}

func storedSuccess(p *plan) *end {
	return stored(p, status.SuccessCriteriaMet, status.Complete)
}

func storedFailure(p *plan) *end {
	return stored(p, status.FailureTarget, status.Failed)
}

func stored(p *plan, interim, terminal string) *end {
	if !p.job.Base.True(interim) {
		return nil
	}
	c := p.job.Base.Condition(interim)
	return &end{interim: interim, terminal: terminal, reason: events.Reason(c.Reason), message: c.Message, stored: true}
}

// writeInFlight: while a write that says how the Job ends is in flight it is unknown whether it is stored, so it holds.
func writeInFlight(p *plan) *end {
	if p.job.Write() == nil {
		return nil
	}
	for _, c := range p.job.Write().Command.(*events.WriteStatus).Change.Conditions {
		if c.Type == status.SuccessCriteriaMet || c.Type == status.FailureTarget {
			return &end{interim: c.Type, reason: events.Reason(c.Reason), message: c.Message, stored: true}
		}
	}
	return nil
}

// concluding reports whether a write that finishes the Job is in flight, so that it may be finished already. One that
// only suspends it, or says how it will end, is none.
func (p *plan) concluding() bool {
	if p.job.Write() == nil {
		return false
	}
	for _, c := range p.job.Write().Command.(*events.WriteStatus).Change.Conditions {
		if c.Type == status.Complete || c.Type == status.Failed {
			return true
		}
	}
	return false
}

// backoffExceeded: failures are compared with >, restarts of containers with >= (J-112, J-113).
func backoffExceeded(p *plan) *end {
	limit := backoffLimit(p.job)
	exceeded := int64(p.job.FailedCount()) > limit
	if p.job.Spec.RestartPolicy == "OnFailure" {
		restarts := p.job.Tally().Restarts
		exceeded = exceeded || (restarts > 0 && restarts >= limit)
	}
	if !exceeded {
		return nil
	}
	return failure(BackoffLimitExceeded, "Job has reached the specified backoff limit")
}

// backoffLimit is how many failures the Job bears.
func backoffLimit(j *projector.Job) int64 {
	if l := j.Spec.BackoffLimit; l != nil {
		return int64(*l)
	}
	return 6 // the API's default
}

// deadlinePassed: time since the start, not counting suspension, which clears the start time (J-146, J-147).
func deadlinePassed(p *plan) *end {
	limit := p.job.Spec.ActiveDeadlineSeconds
	start := p.job.StartTime()
	if limit == nil || start == 0 {
		return nil
	}
	deadline := start.Add(time.Duration(min(*limit, maxSeconds)) * time.Second)
	if p.wake(deadline) {
		return nil
	}
	return failure(DeadlineExceeded, "Job was active longer than specified deadline")
}

// maxSeconds keeps a deadline within what a duration can hold.
const maxSeconds = 1 << 31

// completionsReached: enough successes and nothing active (J-160). A pod that is being deleted and may still end by
// itself decides with its end, as it may be one failure too many.
func completionsReached(p *plan) *end {
	j := p.job
	if t := j.Tally(); t.Active+t.Stopping > 0 || len(j.Creates()) > 0 || !enough(j) || p.awaitsLast() {
		return nil
	}
	return &end{
		interim: status.SuccessCriteriaMet, terminal: status.Complete,
		reason: CompletionsReached, message: "Reached expected number of succeeded pods",
	}
}

// enough reports whether as many pods have succeeded as the Job wants: of a work queue one.
func enough(j *projector.Job) bool {
	if j.WorkQueue {
		return j.SucceededCount() > 0
	}
	return j.SucceededCount() >= j.Completions
}

// failJob: a failed pod that is to be counted matched a FailJob rule of the podFailurePolicy (J-131, J-132, J-133).
func failJob(p *plan) *end {
	find := p.job.FailJobMatch
	if p.explaining {
		find = p.job.AnyFailJobMatch
	}
	pod, m, ok := find()
	if !ok {
		return nil
	}
	name := p.job.Ref.Namespace + "/" + pod.Name
	if m.Condition != "" {
		return failure(PodFailurePolicy, fmt.Sprintf(
			"Pod %s has condition %s matching FailJob rule at index %d", name, m.Condition, m.Rule))
	}
	return failure(PodFailurePolicy, fmt.Sprintf(
		"Container %s for pod %s failed with exit code %d matching FailJob rule at index %d", m.Container, name, m.Code, m.Rule))
}
