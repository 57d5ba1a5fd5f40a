package cron

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/croncase"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/say/words"
)

// newestRuns returns the CronJob's Jobs, the newest first.
func (c *Case) newestRuns() []*croncase.Run {
	out := slices.Clone(c.Runs)
	slices.SortStableFunc(out, func(a, b *croncase.Run) int { return cmp.Compare(b.Created, a.Created) })
	return out
}

// Limits for the Jobs in an answer. It lists the newest 12 Jobs (mostRunsTold), and says of the newest 3 (mostVerdicts)
// why they ended.
const (
	mostVerdicts = 3
	mostRunsTold = 12
)

// toldRun is a sentence about a Job, with the time by which the sentences are sorted: the Job's creation or its due
// time.
type toldRun struct {
	at   events.Time
	says explain.Sentence
}

// runsText says how the newest Jobs ended. It includes Jobs that a record names and that the watch never showed.
func (c *Case) runsText() []explain.Sentence {
	all := append(c.runsSeen(), c.runsUnseen()...)
	slices.SortStableFunc(all, func(a, b toldRun) int { return cmp.Compare(b.at, a.at) })
	var out []explain.Sentence
	for _, r := range all[:min(len(all), mostRunsTold)] {
		out = append(out, r.says)
	}
	return explain.Fewer(out, mostVerdicts)
}

// runsUnseen describes due times for which a Job was started, or may have been, although the watch never showed this
// Job.
func (c *Case) runsUnseen() (out []toldRun) {
	for i := range c.Due.Entries {
		e := &c.Due.Entries[i]
		if !fates.IsDue(e) || slices.ContainsFunc(c.Runs, func(r *croncase.Run) bool {
			return e.Job != "" &&
				r.Job == e.Job
		}) {
			continue
		}
		due := c.InZone(e.First)
		if e.Last != e.First {
			due = fmt.Sprintf("from %s to %s", due, c.InZone(e.Last))
		}
		switch from := explain.Marks(explain.Mark{Record: e.Record, At: e.At}); {
		case e.Fate == events.TickStarted && e.Observed:
			const text = "due %s: %s; it was started by another controller, and its Job was not seen"
			out = append(out, toldRun{e.Last, explain.Say(from, text, due, e.Name)})
		case e.Fate == events.TickStarted:
			const text = "due %s: %s; it was started, and its Job was not seen so far"
			out = append(out, toldRun{e.Last, explain.Say(from, text, due, e.Name)})
		case e.Fate == events.TickUnknown && e.Observed:
			out = append(out, toldRun{e.Last, explain.Say(from, "due %s: unknown, as it was not watched", due)})
		}
	}
	return out
}

// runsSeen describes the newest Jobs that the watch has shown.
func (c *Case) runsSeen() (out []toldRun) {
	for i, r := range c.newestRuns() {
		if i == mostRunsTold {
			break
		}
		text, from := c.madeFor(r)+": "+r.Name, []explain.Mark{r.First}
		if e := c.entryOf(r); e != nil {
			from = []explain.Mark{{Record: e.Record, At: e.At}}
			if e.Late != 0 {
				text += ", " + words.Span(e.Late) + " late"
			}
		}
		how := explain.Phrase("%s", c.howEnded(r))
		if i < mostVerdicts {
			if job := c.caseOf(r); job != nil {
				line := verdicts.Line(job)
				how, from = line.Passage(), append(from, line.Marks()...)
			}
		}
		out = append(out, toldRun{max(r.Created, r.MadeFor), explain.Say(append(from, r.Ended), "%s; %s", text, how)})
	}
	return out
}

// howEnded says how Job r ended, by the records of its CronJob.
func (c *Case) howEnded(r *croncase.Run) string {
	switch {
	case r.Result == events.ResultComplete && r.Started != 0 && r.Completed >= r.Started:
		return "COMPLETE after " + words.Span(r.Completed.Sub(r.Started))
	case r.Result != events.ResultNone:
		return strings.ToUpper(r.Result.String())
	case r.Gone.Record != 0:
		return "deleted before it ended, seen at " + c.Seen(r.Gone.At)
	}
	return "it has not ended"
}

// byHand lists the Jobs that users created or asked for.
func (c *Case) byHand() []explain.Sentence {
	var out []explain.Sentence
	for i := len(c.Due.Entries) - 1; i >= 0; i-- {
		if e := &c.Due.Entries[i]; !fates.IsDue(e) {
			s := c.Fate(e)
			s.Detail = e.Job != "" // the section RUNS lists this Job, too
			out = append(out, s)
		}
	}
	return explain.Fewer(out, 3)
}
