package explain

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// delayedFor is the minimum delay of a completed Job that an answer reports first. A backoff takes 10 s.
const delayedFor = 5 * time.Second

// delayed reports whether a completed Job spent at least delayedFor and at least half of its time in phase p, and how
// long that was.
func (c *Case) delayed(p phase) (d time.Duration, is bool) {
	if c.Job.State != history.StateComplete || len(c.Tries) == 0 {
		return 0, false
	}
	total, _, _ := c.spent()
	return total[p], total[p] >= delayedFor && 2*total[p] >= c.end().Sub(c.start())
}

// unwanted says how long a completed Job was suspended or had parallelism 0. Its edits say who ended that.
func (c *Case) unwanted() []Sentence {
	for _, x := range []struct {
		phase phase
		why   string
		over  func(before, after *events.JobSpec) bool
	}{
		{phaseSuspended, "the Job was suspended", func(before, after *events.JobSpec) bool { return before.Suspend && !after.Suspend }},
		{phaseNoneWanted, "parallelism was 0", func(before, after *events.JobSpec) bool {
			return number(before.Parallelism) == 0 && number(after.Parallelism) > 0
		}},
	} {
		d, is := c.delayed(x.phase)
		if !is {
			continue
		}
		for _, e := range c.edits {
			if x.over(e.Before, e.After) {
				return []Sentence{say(marks(c.added, e.At), "no pod was wanted for %s, of the %s that the Job took: %s until %s",
					words.Span(d), words.Span(c.end().Sub(c.start())), x.why, c.clock(e.At.At))}
			}
		}
	}
	return nil
}

// heldBack says how long a completed Job waited for a retry.
func (c *Case) heldBack() []Sentence {
	d, is := c.delayed(phaseBackoff)
	if !is {
		return nil
	}
	var last *Try
	for _, t := range c.failedTries() {
		if t.Again != 0 && t.CountAt.Record != 0 {
			last = t
		}
	}
	if last == nil {
		return nil
	}
	return []Sentence{say(marks(last.CountAt), "then %s of backoff before the next try, of the %s that the Job took", words.Span(d), words.Span(c.end().Sub(c.start())))}
}
