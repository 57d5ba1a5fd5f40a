package verdicts

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/projector"
)

// livingVerdict returns the verdict about a Job that has not ended.
func livingVerdict(c *jobcase.Case) explain.Sentence {
	now := c.End()
	running := stuck.RunningNow(c)
	done := fmt.Sprintf("%d of %d done", c.Job.Counts.Succeeded, c.Job.Counts.Completions)
	if c.Job.Counts.Completions == 0 {
		done = fmt.Sprintf("%d succeeded", c.Job.Counts.Succeeded)
	}
	if x := stuck.Find(c, running); x != nil {
		return explain.Say(x.From, "STUCK for %s: %s", words.Span(now.Sub(x.From[0].At)), x.Text)
	}
	switch {
	case running > 0:
		what := words.Count(running, "pod") + " running"
		if all := stuck.Halves(c); len(all) > 0 && len(all) == running {
			return explain.Say(append(explain.Marks(c.Added), all[0].From...), "RUNNING for %s: %s; %s",
				words.Span(now.Sub(c.Start())), all[0].Text, done)
		}
		return explain.Say(explain.Marks(c.Added), "RUNNING for %s: %s, %s", words.Span(now.Sub(c.Start())), what, done)
	case stuck.None(c):
		why, from := stuck.NoneSince(c)
		return explain.Say(explain.Marks(c.Added, from),
			"WAITING for %s: no pod is wanted, as %s", words.Span(now.Sub(c.Start())), why)
	}
	if wait := podWait(c); wait.Until > now {
		text := fmt.Sprintf("WAITING until %s: backoff after %s", c.Clock(wait.Until), words.Count(wait.Failures,
			"failed pod"))
		failed := backedOff(c, wait)
		return explain.Say(try.Cite(failed, (*try.Try).End), "%s; %s", text, done)
	}
	return explain.Say(explain.Marks(c.Added), "WAITING for %s: %s", words.Span(now.Sub(c.Start())), done)
}

// podWait returns the Job's wait for the backoff after failures; zero if it has none, or if by our rules it creates no
// more pods.
func podWait(c *jobcase.Case) projector.PodWait {
	if c.Folded == nil {
		return projector.PodWait{}
	}
	wait := c.Folded.NextPodWait()
	if !slices.ContainsFunc(c.Job.Waits, func(w history.Wait) bool { return w.Until == recordjson.Instant(wait.Until) }) {
		return projector.PodWait{} // the Job does not wait for this backoff: by our rules it creates no more pods
	}
	return wait
}

// backedOff returns the newest pods that ended without success: as many as the backoff wait counts.
func backedOff(c *jobcase.Case, wait projector.PodWait) (out []*try.Try) {
	for _, t := range c.Tries {
		if wait.Index != events.NoIndex && t.Index != wait.Index {
			continue
		}
		if t.Phase != events.PodSucceeded && t.End().Record != 0 {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *try.Try) int { return cmp.Compare(a.End().Record, b.End().Record) })
	return out[max(0, len(out)-wait.Failures):]
}
