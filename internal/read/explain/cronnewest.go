package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// newestRuns are its Jobs, the newest first.
func (c *CronCase) newestRuns() []*cronRun {
	out := slices.Clone(c.runs)
	slices.SortStableFunc(out, func(a, b *cronRun) int { return cmp.Compare(b.Created, a.Created) })
	return out
}

// Bounds of what is told of its Jobs: of so many why they ended, and of so many that they did.
const (
	mostVerdicts = 3
	mostRunsTold = 12
)

// runsText says how its newest Jobs ended.
func (c *CronCase) runsText() []Sentence {
	var out []Sentence
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
				how, from = line.passage(), append(from, cited(&line)...)
			}
		}
		out = append(out, say(append(from, r.Ended), "%s; %s", text, how))
	}
	return fewer(out, mostVerdicts)
}

// howEnded is how a Job ended, as its CronJob was told.
func (c *CronCase) howEnded(r *cronRun) string {
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

// byHand says which runs users made or asked for.
func (c *CronCase) byHand() []Sentence {
	var out []Sentence
	for i := len(c.due.Entries) - 1; i >= 0; i-- {
		if e := &c.due.Entries[i]; !isDue(e) {
			s := c.fate(e)
			s.Detail = e.Job != "" // it is among the runs
			out = append(out, s)
		}
	}
	return fewer(out, 3)
}
