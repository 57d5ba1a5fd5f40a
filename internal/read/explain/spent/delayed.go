package spent

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// delayedFor is the smallest delay of a completed Job that an answer puts first. For comparison: the first backoff
// takes 10 s.
const delayedFor = 5 * time.Second

// delayed reports whether a completed Job spent at least delayedFor (5 s) and at least half of its time in phase p, and
// how long that was.
func delayed(c *jobcase.Case, p Phase) (d time.Duration, is bool) {
	if c.Job.State != history.StateComplete || len(c.Tries) == 0 {
		return 0, false
	}
	total, _, _ := Phases(c)
	return total[p], total[p] >= delayedFor && 2*total[p] >= c.End().Sub(c.Start())
}

// Unwanted says how long a completed Job was suspended or had parallelism 0, and which edit ended that.
func Unwanted(c *jobcase.Case) []explain.Sentence {
	for _, x := range []struct {
		phase Phase
		why   string
		over  func(before, after *events.JobSpec) bool
	}{
		{phaseSuspended, "the Job was suspended", func(before, after *events.JobSpec) bool {
			return before.Suspend &&
				!after.Suspend
		}},
		{phaseNoneWanted, "parallelism was 0", func(before, after *events.JobSpec) bool {
			return jobcase.Number(before.Parallelism) == 0 && jobcase.Number(after.Parallelism) > 0
		}},
	} {
		d, is := delayed(c, x.phase)
		if !is {
			continue
		}
		for _, e := range c.Edits {
			if x.over(e.Before, e.After) {
				return []explain.Sentence{explain.Say(explain.Marks(c.Added, e.At),
					"no pod was wanted for %s: %s until %s", words.Span(d), x.why, c.Clock(e.At.At)+explain.ByManager(e.By))}
			}
		}
	}
	return nil
}

// HeldBack says how long a completed Job waited for the backoff after failures, if that was a large part of its time.
func HeldBack(c *jobcase.Case) []explain.Sentence {
	d, is := delayed(c, PhaseBackoff)
	if !is {
		return nil
	}
	var last *try.Try
	for _, t := range ending.FailedTries(c) {
		if t.Again != 0 && t.CountAt.Record != 0 {
			last = t
		}
	}
	if last == nil {
		return nil
	}
	return []explain.Sentence{explain.Say(explain.Marks(last.CountAt),
		"then %s of backoff before the next try", words.Span(d))}
}
