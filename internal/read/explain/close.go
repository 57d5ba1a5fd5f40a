package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/reconciler"
)

// close says how close the Job came to the opposite end: a complete Job to its backoffLimit, or to its deadline if it
// used more than 3/4 of that; a failed Job to its completions.
func (c *JobCase) close() []Sentence {
	if c.Spec == nil || c.folded == nil {
		return nil
	}
	var out []Sentence
	switch c.Job.State {
	case history.StateComplete:
		failed, limit := c.folded.Base.Failed, backoffLimit(c.Spec)
		var counted []*Try
		for _, t := range c.Tries {
			if t.Counted == CountedFailed {
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
			out = append(out, say(cite(counted, func(t *Try) Mark { return t.CountAt }),
				"%s = backoffLimit %d: one more would have failed the Job%s", words.Count(int(failed), "failure"), limit, missing))
		default:
			out = append(out, say(cite(counted, func(t *Try) Mark { return t.CountAt }),
				"%s of the %d that backoffLimit allows%s", words.Count(int(failed), "failure"), limit, missing))
		}
		if limit := c.Spec.ActiveDeadlineSeconds; limit != nil && c.folded.StartTime() != 0 {
			used := c.end().Sub(c.folded.StartTime())
			if used > seconds(*limit)*3/4 {
				out = append(out, say(c.settledMarks(), "%s of activeDeadlineSeconds %d were used", words.Span(used), *limit))
			}
		}
	case history.StateFailed:
		if n := c.Job.Counts.Completions; n > 1 {
			out = append(out, say(c.countedIn(), "%d of %d completions had succeeded%s", c.Job.Counts.Succeeded, n, c.indexesText()))
		}
	}
	return out
}

// countedIn returns the records with the counts of the Job: our decisions, or the newest object of a Job that another
// controller runs.
func (c *JobCase) countedIn() []Mark {
	if c.ours() {
		return c.settledMarks()
	}
	return marks(c.shown)
}

func (c *JobCase) indexesText() string {
	if !c.folded.Indexed {
		return ""
	}
	if text := c.folded.Completed().Text(); text != "" && len(text) < 60 {
		return fmt.Sprintf(" (indexes %s)", text)
	}
	return ""
}

// ruledOut says what was not the cause. The absence of a record proves something only if the watch had no gap: the
// section exists only for a failed Job that was watched all the time, and cites the records at both ends of that time.
func (c *JobCase) ruledOut() []Sentence {
	if c.Job.State != history.StateFailed || c.added.Record == 0 || c.begun != "" || c.untold() || len(c.touching()) > 0 || !c.complete() || c.settled == nil || c.Spec == nil {
		return nil
	}
	last := c.settled.Decided
	if last.Record == 0 {
		last = c.settled.Seen
	}
	watched := marks(c.added, last)
	var short []string
	var out []Sentence
	rule := func(is bool, what, why string, args ...any) {
		if !is {
			short = append(short, what)
			out = append(out, detail(say(watched, "no %s: %s", what, fmt.Sprintf(why, args...))))
		}
	}
	what := c.whatEnded()
	rule(what.byOthers || what.byVerdict || what.deleted, "deletion", "each pod ended before its deletion was asked for")
	if what.byVerdict {
		rule(what.byOthers || what.deleted, "deletion by others", "no pod was deleted but because the Job had ended")
	}
	rule(what.disrupted || what.evicted, "eviction or node loss", "no pod had the condition DisruptionTarget")
	rule(!c.oursUntil(last) || len(c.refusals) > 0 || c.refusedItself, "refusal", "the API server accepted what was asked of it")
	rule(len(c.edits) > 0, "spec edit", "the spec stayed as it was created")
	rule(c.settled.Reason == "DeadlineExceeded" || c.deadlinePassed(last), c.deadlineName(), "%s", c.deadlineText())
	rule(false, "gap", "it was watched all the time")
	return append([]Sentence{say(nil, "%s", strings.Join(short, ", "))}, out...)
}

// untold reports whether the status counts more failed pods than the log has records of.
func (c *JobCase) untold() bool {
	failed := 0
	for _, t := range c.Tries {
		if t.failed() {
			failed++
		}
	}
	return int(c.folded.Base.Failed) > failed
}

// removals says what ended pods of a Job, besides the pods themselves.
type removals struct {
	byOthers, byVerdict bool
	// A pod has the condition DisruptionTarget, a cause that is a disruption, or lost its node first.
	disrupted bool
	deleted   bool // a disrupted pod was deleted; only a kubelet disrupts without a deletion
	evicted   bool // a kubelet evicted a pod over its own limit, or it is unknown what ended a pod
}

// whatEnded looks at all pods of the Job, including pods that ended after the verdict: a deletion requested earlier may
// have caused the verdict.
func (c *JobCase) whatEnded() (r removals) {
	for _, t := range c.Tries {
		e := c.ending(t)
		switch {
		case e.By.Disruption() || t.Disrupted != nil:
			r.disrupted = true
			r.deleted = r.deleted || e.By != ByKubelet
		case e.By.own() || e.By == ByNobody:
		case c.byVerdict(t, &e):
			r.byVerdict = true
		default:
			r.byOthers = true
		}
		r.disrupted = r.disrupted || e.nodeWent
		r.evicted = r.evicted || t.Reason == "Evicted" || e.By == ByUnknown
		// It was deleted, and a finalizer kept it.
		r.byOthers = r.byOthers || (len(t.Kept) > 0 && t.KeptAt.Record != 0)
	}
	return r
}

// byVerdict reports whether a pod was deleted because its Job was about to end.
func (c *JobCase) byVerdict(t *Try, e *Ending) bool {
	switch e.By {
	case ByUs:
		return t.DeletedReason == reconciler.JobFailing || t.DeletedReason == reconciler.JobSucceeded
	case ByController:
		return len(e.Marks) > 0 && c.endedBefore(e.Marks[len(e.Marks)-1], 3*time.Second).Record != 0
	}
	return false
}

// deadlineName names the Job's deadline; it says "own" if a pod also met a deadline of the pod's spec.
func (c *JobCase) deadlineName() string {
	if slices.ContainsFunc(c.Tries, func(t *Try) bool { return t.Reason == "DeadlineExceeded" }) {
		return "the Job's own deadline"
	}
	return "deadline"
}

// deadlinePassed reports whether the Job's deadline had passed when another reason settled its end.
func (c *JobCase) deadlinePassed(settled Mark) bool {
	limit, start := c.Spec.ActiveDeadlineSeconds, c.folded.StartTime()
	return limit != nil && start != 0 && start.Add(seconds(*limit)) <= settled.At
}

func (c *JobCase) deadlineText() string {
	if c.Spec.ActiveDeadlineSeconds == nil {
		return "activeDeadlineSeconds is not set"
	}
	return fmt.Sprintf("activeDeadlineSeconds %d had not passed", *c.Spec.ActiveDeadlineSeconds)
}
