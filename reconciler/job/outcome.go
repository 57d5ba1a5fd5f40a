package job

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// end is how a Job ends: by which rule, and with which conditions. First the interim condition is written
// (FailureTarget or SuccessCriteriaMet). Once no pod of the Job runs, the terminal condition follows with the same
// reason and message (J-162).
type end struct {
	rule              string
	interim, terminal string
	reason            events.Reason
	message           string
	stored            bool // the published status already has the interim condition
}

func (e *end) failure() bool { return e.terminal == status.Failed }

func failure(reason events.Reason, message string) *end {
	return &end{interim: status.FailureTarget, terminal: status.Failed, reason: reason, message: message}
}

// outcome is one way in which a Job may end. holds returns the end of the Job, or nil if the Job does not end in this
// way.
type outcome struct {
	name  string
	holds func(*plan) *end
}

// Explains reports whether job, in its state at time now, fails (or succeeds) for this reason, if its stored conditions
// are ignored. It is used to check an end that another controller wrote.
func Explains(job *projector.Job, now events.Time, failure bool, reason events.Reason) bool {
	p := &plan{Draft: reconciler.NewDraft(now, false), job: job, explaining: true}
	for _, o := range outcomes {
		if e := o.holds(p); e != nil && !e.stored && e.failure() == failure && e.reason == reason {
			return true
		}
	}
	return false
}

// decideOutcome finds out whether the Job ends, and how: the first of the outcomes that applies counts.
func (p *plan) decideOutcome() {
	for _, o := range outcomes {
		if e := o.holds(p); e != nil {
			if p.claiming && !e.stored {
				// Decide no new outcome while pods are being adopted: it is not certain which pods the Job has (J-018)
				return
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

// writeInFlight returns the end of the Job that a status write in flight publishes. The server may have stored it
// already.
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

// concluding reports whether a status write in flight contains the terminal condition, so that the Job may already be
// finished.
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

// backoffExceeded: the Job fails when more than backoffLimit pods have failed, or with restartPolicy OnFailure when
// containers have restarted backoffLimit times (J-112, J-113).
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
	return failure(reconciler.BackoffLimitExceeded, "Job has reached the specified backoff limit")
}

// backoffLimit returns the number of failures that the Job tolerates.
func backoffLimit(j *projector.Job) int64 {
	if l := j.Spec.BackoffLimit; l != nil {
		return int64(*l)
	}
	return 6 // the API's default
}

// deadlinePassed: the Job fails activeDeadlineSeconds after its start. Suspension clears the start time, so the time
// before and during a suspension does not count (J-146, J-147).
func deadlinePassed(p *plan) *end {
	limit := p.job.Spec.ActiveDeadlineSeconds
	start := p.job.StartTime()
	if limit == nil || start == 0 {
		return nil
	}
	deadline := start.Add(time.Duration(min(*limit, maxSeconds)) * time.Second)
	if p.WakeAt(deadline) {
		return nil
	}
	return failure(reconciler.DeadlineExceeded, "Job was active longer than specified deadline")
}

// maxSeconds caps a deadline, in seconds, so that it fits a time.Duration: about 68 years.
const maxSeconds = 1 << 31

// completionsReached: the Job succeeds with enough successes and no active pod (J-160). It waits for a pod being
// deleted that may still end by itself, because that pod may be one failure too many.
func completionsReached(p *plan) *end {
	j := p.job
	if t := j.Tally(); t.Active+t.Stopping > 0 || len(j.Creates()) > 0 || !enough(j) || p.awaitsLast() {
		return nil
	}
	return &end{
		interim: status.SuccessCriteriaMet, terminal: status.Complete,
		reason: reconciler.CompletionsReached, message: "Reached expected number of succeeded pods",
	}
}

// enough reports whether enough pods have succeeded: one for a work queue (no spec.completions), spec.completions for
// other Jobs.
func enough(j *projector.Job) bool {
	if j.WorkQueue {
		return j.SucceededCount() > 0
	}
	return j.SucceededCount() >= j.Completions
}

// failJob: the Job fails if a failed pod that is to be counted matched a FailJob rule of the podFailurePolicy (J-131,
// J-132, J-133).
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
		return failure(reconciler.PodFailurePolicy, fmt.Sprintf(
			"Pod %s has condition %s matching FailJob rule at index %d", name, m.Condition, m.Rule))
	}
	return failure(reconciler.PodFailurePolicy, fmt.Sprintf(
		"Container %s for pod %s failed with exit code %d matching FailJob rule at index %d", m.Container, name, m.Code, m.Rule))
}
