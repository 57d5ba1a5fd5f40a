package verdict

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// Doubt says why the reason in a Job's final condition cannot be true, by the Job's status and spec: "0 failures,
// backoffLimit is 6". It is empty if nothing contradicts the reason. A reason alone proves nothing: anyone with the
// permission may write a status.
func Doubt(j *projector.Job) string {
	c := accountOf(j, &j.Base)
	if c.end.Result == events.ResultNone {
		c.onTheWay()
	}
	if !c.certain {
		return ""
	}
	return c.doubt()
}

// interim maps the conditions that announce how a Job will end (before its pods are gone) to that result.
var interim = map[string]events.JobResult{status.FailureTarget: events.ResultFailed, status.SuccessCriteriaMet: events.ResultComplete}

// onTheWay is for a Job that has not ended, but has a condition that says how it will end. It sets c.end to that end.
// If there are two such conditions, the first counts, as for final conditions.
func (c *account) onTheWay() {
	s := c.status
	c.end.Started, c.end.Failed, c.end.Succeeded = s.StartTime, s.Failed, max(s.Succeeded, c.job.SucceededCount())
	for _, k := range s.Conditions {
		if result, is := interim[k.Type]; is && k.Status == "True" {
			c.end.Result, c.end.Reason, c.end.Finished = result, events.Reason(k.Reason), k.Since
			return
		}
	}
}

func (c *account) doubt() string {
	spec := c.spec
	switch {
	case spec == nil:
		return ""
	case c.end.Result == events.ResultComplete:
		return c.doubtComplete()
	}
	switch c.end.Reason {
	case "BackoffLimitExceeded":
		return c.doubtBackoff()
	case "DeadlineExceeded":
		return c.doubtDeadline()
	case "PodFailurePolicy":
		matched := c.told(func(e *projector.TryEnd) bool { return e.Action == "FailJob" }) > 0
		if !matched && spec.PodFailurePolicy == "" && spec.Policies == "" {
			return "it has no podFailurePolicy"
		}
	case "MaxFailedIndexesExceeded":
		n := c.status.FailedIndexes.Len()
		switch {
		case spec.MaxFailedIndexes == nil:
			return "maxFailedIndexes is not set"
		case n <= *spec.MaxFailedIndexes:
			return fmt.Sprintf("%s, maxFailedIndexes is %d", count(n, "failed index"), *spec.MaxFailedIndexes)
		}
	case "FailedIndexes":
		if c.status.FailedIndexes.Len() == 0 {
			return "0 failed indexes"
		}
	}
	return ""
}

// doubtBackoff says why the reason BackoffLimitExceeded in a status cannot be true; empty if it can. The status may
// be out of date, so it uses the failures in the log if these are more.
func (c *account) doubtBackoff() string {
	failed, limit := max(c.end.Failed, c.job.FailedCount()), c.backoffLimit()
	restarts := c.told(func(e *projector.TryEnd) bool { return e.Kind == projector.TryRestarted })
	onFailure := c.spec.RestartPolicy == "OnFailure"
	switch {
	case int64(failed) > limit, restarts > 0 && int64(restarts) >= limit:
		return ""
	case onFailure && c.told(func(e *projector.TryEnd) bool { return e.Kind != projector.TryRestarted }) < c.end.Failed:
		return "" // a pod that failed was not seen, so it is unknown how often it had restarted
	case onFailure || restarts > 0:
		return fmt.Sprintf("%s and %s, backoffLimit is %d", count(failed, "failure"), count(restarts, "restart"), limit)
	}
	return fmt.Sprintf("%s, backoffLimit is %d", count(failed, "failure"), limit)
}

// doubtDeadline says why the reason DeadlineExceeded in a status cannot be true, by the status's own times; empty if
// it can. It tolerates 2 s, because the times are whole seconds and may come from two clocks.
func (c *account) doubtDeadline() string {
	const clocks = 2 * time.Second
	limit := c.spec.ActiveDeadlineSeconds
	if limit == nil {
		return "activeDeadlineSeconds is not set"
	}
	if start := c.end.Started; start != 0 && c.end.Finished.Sub(start)+clocks >= time.Duration(min(*limit, 1<<31))*time.Second {
		return ""
	}
	return fmt.Sprintf("activeDeadlineSeconds is %d", *limit)
}

func (c *account) doubtComplete() string {
	n, of := c.end.Succeeded, c.terms.Completions
	some := fmt.Sprintf("%d of %s succeeded", n, count(of, "completion"))
	if c.terms.WorkQueue {
		some = count(n, "pod") + " succeeded"
	}
	switch c.end.Reason {
	case "SuccessPolicy":
		if c.spec.SuccessPolicy == "" && c.spec.Policies == "" {
			return "it has no successPolicy"
		} else if n == 0 {
			return some
		}
	case "CompletionsReached", "":
		if c.terms.WorkQueue && n == 0 || !c.terms.WorkQueue && n < of {
			return some
		}
	}
	return ""
}

// doubted returns the clauses of the verdict for a Job whose reason in the status cannot be true: what the status
// says, and what contradicts it (doubt).
func (c *account) doubted(doubt string) []string {
	why := "its status says " + c.said()
	room := Width - len("FAILED"+c.took()+": "+why+"; "+doubt+"; ")
	return []string{why, doubt, c.tries(room, false), c.stopped()}
}

// said returns the reason in the Job's final condition; without a reason, the type of the condition.
func (c *account) said() string {
	switch {
	case c.end.Reason != "":
		return foreign(string(c.end.Reason), 40)
	case c.end.Result == events.ResultComplete:
		return status.Complete
	}
	return status.Failed
}
