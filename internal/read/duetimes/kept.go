package duetimes

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// Kept is a time span in which a CronJob could not start a Job: it was suspended, or an earlier Job was running and its
// concurrencyPolicy is Forbid.
type Kept struct {
	By          events.TickHold
	Job         string      // the running Job; empty for a suspension
	From, Until events.Time // Until is 0 if the span has not ended
	Unseen      bool        // only status.active names the Job: no record tells whether it ran
	// Before is set if the span began earlier than From. Reading began with a record of the whole state, which does not
	// say since when.
	Before      bool
	First, Last Place // records that show the start and the end of the span
	uid         types.UID
}

// active returns the names of running Jobs: the unfinished Jobs of status.active, or if it names none, the Jobs whose
// records show them running. status.active may be out of date in the log: a status that our controller wrote gets no
// record if the answer to the write came before the watch.
func (c *CronJob) active() (names []string) {
	if c.Seen != nil {
		for _, a := range c.Seen.Active {
			if run := c.kept.runs[a.UID]; run == nil || run.Result == events.ResultNone {
				names = append(names, a.Name)
			}
		}
	}
	if len(names) > 0 {
		return names
	}
	for _, run := range c.kept.runs {
		if run.Result == events.ResultNone {
			names = append(names, run.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Place is a record in the log, with the time of the record.
type Place struct {
	Record events.Sequence
	At     events.Time
}

// keeping collects the time spans in which the CronJob could not start a Job (Kept). It uses only what the watch of the
// API server reported, so it works whichever controller starts the Jobs.
type keeping struct {
	spans  []Kept
	open   map[types.UID]int // the spans without an end: index in spans by Job UID, "" for a suspension
	runs   map[types.UID]*events.RunSeen
	gone   map[types.UID]bool // deleted Jobs: status.active may still name them for a moment
	policy string
	since  events.Time // newest due time that has started
}

func (k *keeping) seen(run *events.RunSeen) {
	if k.runs == nil {
		k.runs = map[types.UID]*events.RunSeen{}
	}
	k.runs[run.Job] = run
}

// left forgets a Job that was deleted, or that the CronJob does not own any more: no later record will show its end. If
// the Job was deleted, left notes this in k.gone.
func (k *keeping) left(f *events.RunGone) {
	delete(k.runs, f.Job)
	if f.Left || f.Other {
		return
	}
	if k.gone == nil {
		k.gone = map[types.UID]bool{}
	}
	k.gone[f.Job] = true
}

// keep processes a record that may begin or end a time span in which the CronJob cannot start a Job.
func (c *CronJob) keep(r *events.Record) {
	k := &c.kept
	switch f := r.Facts.(type) {
	case *events.RunSeen:
		k.seen(f)
	case *events.RunGone:
		k.left(f)
	case *events.CronJobSeen, *events.StoredState:
	default:
		return
	}
	if c.Seen == nil {
		return
	}
	at := Place{r.Sequence, r.Time}
	keeps := map[types.UID]Kept{}
	if c.Seen.Suspend {
		keeps[""] = Kept{By: events.HeldSuspended, From: r.Time, First: at, Before: r.Kind == events.KindStateStored}
	}
	if c.Seen.Policy == "Forbid" {
		for _, a := range c.Seen.Active {
			run := k.runs[a.UID]
			if k.gone[a.UID] || run != nil && run.Result != events.ResultNone {
				continue
			}
			from := r.Time
			if run != nil && (k.policy == "" || k.policy == c.Seen.Policy) {
				from = run.Created
			}
			keeps[a.UID] = Kept{By: events.HeldForbid, Job: a.Name, From: from, First: at, Unseen: run == nil, uid: a.UID}
		}
	}
	k.policy = c.Seen.Policy
	k.change(keeps, at)
}

// change updates the spans (times without starts) as of record at. keeps has, by Job UID, what prevents starts now:
// open spans that are not in it end, and new ones begin.
func (k *keeping) change(keeps map[types.UID]Kept, at Place) {
	if k.open == nil {
		k.open = map[types.UID]int{}
	}
	for uid, i := range k.open {
		s, still := keeps[uid]
		switch span := &k.spans[i]; {
		case still && span.Unseen && !s.Unseen:
			*span = s // until now only status.active named the Job; now a record shows it
		case !still || s.Unseen != span.Unseen:
			span.Until, span.Last = at.At, at
			delete(k.open, uid)
		}
	}
	var begin []Kept
	for uid, s := range keeps {
		if _, known := k.open[uid]; !known {
			begin = append(begin, s)
		}
	}
	slices.SortFunc(begin, func(a, b Kept) int { return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(a.uid, b.uid)) })
	for _, s := range begin {
		k.open[s.uid] = len(k.spans)
		k.spans = append(k.spans, s)
	}
}

// Tolerances of Kept for the wait of a due time. Another controller reacts a moment after a suspension begins or ends,
// and the watch reports both late: a suspension may begin up to 2 s after the wait, and end up to 10 s before its end.
const (
	slackBefore = 2 * time.Second
	slackAfter  = 10 * time.Second
)

// Kept returns, in order, the time spans between two instants in which the CronJob could not start a Job. whole reports
// whether they leave no gap, apart from tolerances of 2 s at the beginning and 10 s at the end.
func (c *CronJob) Kept(from, until events.Time) (all []Kept, whole bool) {
	for _, s := range c.kept.spans {
		if s.From < until && (s.Until == 0 || s.Until > from) {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b Kept) int { return cmp.Compare(a.From, b.From) })
	reached, slack := from.Add(min(slackBefore, until.Sub(from)/4)), min(slackAfter, until.Sub(from)/2)
	for _, s := range all {
		if s.From > reached {
			return all, false
		}
		if s.Until == 0 {
			return all, true
		}
		reached = max(reached, s.Until)
	}
	return all, len(all) > 0 && reached.Add(slack) >= until
}

// keptNow returns what prevents the CronJob from starting a Job now: the suspension, or else a running Job. It returns
// nil if nothing does, or if no record shows that the Job runs.
func (c *CronJob) keptNow() (now *Kept) {
	for i := range c.kept.spans {
		if s := &c.kept.spans[i]; s.Until == 0 && !s.Unseen && (now == nil || s.By == events.HeldSuspended) {
			now = s
		}
	}
	return now
}

// free returns the first instant, from or later, at which neither a suspension nor a running Job prevented a start.
func (c *CronJob) free(from events.Time) events.Time {
	for _, s := range c.kept.spans {
		if s.From <= from.Add(slackBefore) && (s.Until == 0 || s.Until > from) {
			if s.Until == 0 {
				return c.now
			}
			from = s.Until
		}
	}
	return from
}
