package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// newestRuns returns its Jobs, the newest first.
func (c *CronAnswer) newestRuns() []*cronRun {
	out := slices.Clone(c.runs)
	slices.SortStableFunc(out, func(a, b *cronRun) int { return cmp.Compare(b.Created, a.Created) })
	return out
}

// Bounds on the Jobs in an answer: mostRunsTold of them are listed, and mostVerdicts of them with the reason of their
// end.
const (
	mostVerdicts = 3
	mostRunsTold = 12
)

// toldRun is the sentence about a Job, and its creation or due time for sorting.
type toldRun struct {
	at   events.Time
	says Sentence
}

// runsText says how its newest Jobs ended, including Jobs that were never seen.
func (c *CronAnswer) runsText() []Sentence {
	all := append(c.runsSeen(), c.runsUnseen()...)
	slices.SortStableFunc(all, func(a, b toldRun) int { return cmp.Compare(b.at, a.at) })
	var out []Sentence
	for _, r := range all[:min(len(all), mostRunsTold)] {
		out = append(out, r.says)
	}
	return fewer(out, mostVerdicts)
}

// runsUnseen describes the due times that started a Job, or may have started one, that was never seen.
func (c *CronAnswer) runsUnseen() (out []toldRun) {
	for i := range c.due.Entries {
		e := &c.due.Entries[i]
		if !isDue(e) || slices.ContainsFunc(c.runs, func(r *cronRun) bool { return e.Job != "" && r.Job == e.Job }) {
			continue
		}
		due := c.in(e.First)
		if e.Last != e.First {
			due = fmt.Sprintf("from %s to %s", due, c.in(e.Last))
		}
		switch from := marks(Mark{e.Record, e.At}); {
		case e.Fate == events.TickStarted && e.Observed:
			const text = "due %s: %s; it was started by another controller, and its Job was not seen"
			out = append(out, toldRun{e.Last, say(from, text, due, e.Name)})
		case e.Fate == events.TickStarted:
			const text = "due %s: %s; it was started, and its Job was not seen so far"
			out = append(out, toldRun{e.Last, say(from, text, due, e.Name)})
		case e.Fate == events.TickUnknown && e.Observed:
			out = append(out, toldRun{e.Last, say(from, "due %s: unknown, as it was not watched", due)})
		}
	}
	return out
}

// runsSeen describes its newest Jobs that were seen.
func (c *CronAnswer) runsSeen() (out []toldRun) {
	for i, r := range c.newestRuns() {
		if i == mostRunsTold {
			break
		}
		text, from := c.madeFor(r)+": "+r.Name, []Mark{r.First}
		if e := c.entryOf(r); e != nil {
			from = []Mark{{e.Record, e.At}}
			if e.Late != 0 {
				text += ", " + words.Span(e.Late) + " late"
			}
		}
		how := phrase("%s", c.howEnded(r))
		if i < mostVerdicts {
			if job := c.caseOf(r); job != nil {
				line := job.line()
				how, from = line.passage(), append(from, line.marks()...)
			}
		}
		out = append(out, toldRun{max(r.Created, r.MadeFor), say(append(from, r.Ended), "%s; %s", text, how)})
	}
	return out
}

// howEnded returns how a Job ended, by the records of its CronJob.
func (c *CronAnswer) howEnded(r *cronRun) string {
	switch {
	case r.Result == events.ResultComplete && r.Started != 0 && r.Completed >= r.Started:
		return "COMPLETE after " + words.Span(r.Completed.Sub(r.Started))
	case r.Result != events.ResultNone:
		return strings.ToUpper(r.Result.String())
	case r.Gone.Record != 0:
		return "deleted before it ended, seen at " + c.seen(r.Gone.At)
	}
	return "it has not ended"
}

// byHand lists the runs that users made or requested.
func (c *CronAnswer) byHand() []Sentence {
	var out []Sentence
	for i := len(c.due.Entries) - 1; i >= 0; i-- {
		if e := &c.due.Entries[i]; !isDue(e) {
			s := c.fate(e)
			s.Detail = e.Job != "" // it is also listed among the runs
			out = append(out, s)
		}
	}
	return fewer(out, 3)
}
