package job

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/reconciler"
)

// close says how close the Job came to the opposite result. Of a complete Job, it says how much of backoffLimit or of
// the deadline the Job used, if 3/4 or more; of a failed Job, how many completions it had, if any.
func (c *Case) close() []explain.Sentence {
	if !c.Judged() || c.Folded == nil {
		return nil
	}
	var out []explain.Sentence
	switch c.Job.State {
	case history.StateComplete:
		failed, limit := c.Folded.Base.Failed, jobcase.BackoffLimit(c.Spec)
		var counted []*try.Try
		for _, t := range c.Tries {
			if t.Counted == try.CountedFailed {
				counted = append(counted, t)
			}
		}
		missing := ""
		if n := int(failed) - len(counted); n > 0 {
			missing = fmt.Sprintf("; how %d of them ended is not in the log", n)
		}
		switch {
		case failed == 0 || c.Spec.BackoffLimitPerIndex != nil:
		case failed == limit:
			out = append(out, explain.Say(try.Cite(counted, func(t *try.Try) explain.Mark { return t.CountAt }),
				"%s = backoffLimit %d: one more would have failed the Job%s", words.Count(int(failed), "failure"), limit, missing))
		case int64(failed)*4 >= int64(limit)*3:
			out = append(out, explain.Say(try.Cite(counted, func(t *try.Try) explain.Mark { return t.CountAt }),
				"%s of the %d that backoffLimit allows%s", words.Count(int(failed), "failure"), limit, missing))
		}
		if limit := c.Spec.ActiveDeadlineSeconds; limit != nil && c.Folded.StartTime() != 0 {
			used := c.End().Sub(c.Folded.StartTime())
			if used > explain.Seconds(*limit)*3/4 {
				out = append(out, explain.Say(c.SettledMarks(), "%s of activeDeadlineSeconds %d were used", words.Span(used),
					*limit))
			}
		}
	case history.StateFailed:
		if n := c.Job.Counts.Completions; n > 1 && c.Job.Counts.Succeeded > 0 {
			out = append(out, explain.Say(c.countedIn(), "%d of %d completions had succeeded%s", c.Job.Counts.Succeeded, n,
				c.indexesText()))
		}
	}
	return out
}

// countedIn returns the records that have the Job's counts: our decision to end it, or for a Job of another controller,
// its newest version.
func (c *Case) countedIn() []explain.Mark {
	if c.Ours() {
		return c.SettledMarks()
	}
	return explain.Marks(c.Shown)
}

func (c *Case) indexesText() string {
	if text := c.Folded.LastCompleted().Text(); text != "" && len(text) < 60 {
		return fmt.Sprintf(" (indexes %s)", text)
	}
	return ""
}

// ruledOut says what was not the cause of the Job's failure. A missing record proves something only if nothing was
// missed. So there are such sentences only for a failed Job that was watched from its beginning to its end. They cite
// the records of both.
func (c *Case) ruledOut() []explain.Sentence {
	if c.Job.State != history.StateFailed || c.Added.Record == 0 || c.Begun != "" || c.untold() || len(c.Touching()) > 0 ||
		!c.Complete() || c.Settled == nil || !c.Judged() {
		return nil
	}
	last := c.Settled.Decided
	if last.Record == 0 {
		last = c.Settled.Seen
	}
	watched := explain.Marks(c.Added, last)
	var short []string
	var out []explain.Sentence
	rule := func(is bool, what, why string, args ...any) {
		if !is {
			short = append(short, what)
			out = append(out, explain.Detail(explain.Say(watched, "no %s: %s", what, fmt.Sprintf(why, args...))))
		}
	}
	what := c.whatEnded()
	rule(what.byOthers || what.byVerdict || what.deleted, "pod deletion", "each pod ended before its deletion was asked for")
	if what.byVerdict {
		rule(what.byOthers || what.deleted, "pod deletion by others", "no pod was deleted but because the Job had ended")
	}
	rule(what.disrupted || what.evicted, "eviction or node loss", "no pod had the condition DisruptionTarget")
	rule(!c.OursUntil(last) || len(c.Refusals) > 0 || c.refusedItself, "API refusal",
		"the API server accepted what was asked of it")
	rule(len(c.Edits) > 0, "spec edit", "the spec stayed as it was created")
	rule(c.Settled.Reason == "DeadlineExceeded" || c.deadlinePassed(last), c.deadlineName(), "%s", c.deadlineText())
	rule(false, "unwatched time", "it was watched all the time")
	return append([]explain.Sentence{explain.Say(nil, "%s", strings.Join(short, ", "))}, out...)
}

// untold reports whether the Job's status counts more failed pods than the log has records of.
func (c *Case) untold() bool {
	failed := 0
	for _, t := range c.Tries {
		if t.Failed() {
			failed++
		}
	}
	return int(c.Folded.Base.Failed) > failed
}

// removals says who ended pods of the Job, other than the pods themselves. byVerdict is set if pods were deleted
// because the Job was about to end, byOthers if somebody else deleted pods.
type removals struct {
	byOthers, byVerdict bool
	// disrupted is set if a pod had the condition DisruptionTarget, was ended by another disruption, or lost its node
	// before it ended.
	disrupted bool
	deleted   bool // a disrupted pod was deleted; only a kubelet disrupts a pod and does not delete it
	evicted   bool // a pod has the reason Evicted (a kubelet evicted it), or it is unknown who ended a pod
}

// whatEnded says what ended the Job's pods. It looks at all pods, also at those that ended after the Job's end was
// decided, because an earlier request to delete them may have led to that decision.
func (c *Case) whatEnded() (r removals) {
	for _, t := range c.Tries {
		e := ending.Of(c.Case, t)
		switch {
		case e.By.Disruption() || t.Disrupted != nil:
			r.disrupted = true
			r.deleted = r.deleted || e.By != try.ByKubelet || t.AskedSeen.Record != 0 && t.AskedSeen.Record < t.End().Record
		case e.By.Own() || e.By == try.ByNobody:
		case c.byVerdict(t, &e):
			r.byVerdict = true
		default:
			r.byOthers = true
		}
		r.disrupted = r.disrupted || e.NodeWent
		r.evicted = r.evicted || t.Reason == "Evicted" || e.By == try.ByUnknown
		// If a finalizer delayed the end of the pod's object (Kept), somebody had deleted the pod.
		r.byOthers = r.byOthers || len(t.Kept) > 0
	}
	return r
}

// byVerdict reports whether a pod was deleted because the Job was about to end. e is what ended the pod.
func (c *Case) byVerdict(t *try.Try, e *try.Ending) bool {
	switch e.By {
	case try.ByUs:
		return t.DeletedReason == reconciler.JobFailing || t.DeletedReason == reconciler.JobSucceeded
	case try.ByController:
		return len(e.Marks) > 0 && ending.EndedBefore(c.Case, e.Marks[len(e.Marks)-1], 3*time.Second).Record != 0
	}
	return false
}

// deadlineName names the Job's deadline. It says "own" if pods have a deadline, too.
func (c *Case) deadlineName() string {
	if slices.ContainsFunc(c.Tries, func(t *try.Try) bool { return t.Reason == "DeadlineExceeded" }) {
		return "the Job's own deadline"
	}
	return "deadline"
}

// deadlinePassed reports whether the Job's deadline had passed when the Job ended for another reason, at record
// settled.
func (c *Case) deadlinePassed(settled explain.Mark) bool {
	limit, start := c.Spec.ActiveDeadlineSeconds, c.Folded.StartTime()
	return limit != nil && start != 0 && start.Add(explain.Seconds(*limit)) <= settled.At
}

func (c *Case) deadlineText() string {
	if c.Spec.ActiveDeadlineSeconds == nil {
		return "activeDeadlineSeconds is not set"
	}
	return fmt.Sprintf("activeDeadlineSeconds %d had not passed", *c.Spec.ActiveDeadlineSeconds)
}
