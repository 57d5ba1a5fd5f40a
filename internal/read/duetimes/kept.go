package duetimes

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// Kept is a time in which a CronJob could not start a run: it was suspended, or an earlier Job ran and the policy was
// Forbid.
type Kept struct {
	By          events.TickHold
	Job         string      // the Job that ran
	From, Until events.Time // Until is 0 while it lasts
	Unseen      bool        // status.active named the Job, and no record tells whether it ran
	Before      bool        // it had begun before From: reading began with a stored state
	First, Last Place       // records of its start and its end
	uid         types.UID
}

// active returns the names of running Jobs: the unfinished Jobs of status.active, or else the Jobs that were seen
// running. A status that we wrote ourselves may have no record: none is made when the answer to the write came before
// the watch.
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

// Place is a record and its time.
type Place struct {
	Record events.Sequence
	At     events.Time
}

// keeping follows what keeps a CronJob from starting. It uses only facts, so it holds whichever controller runs the
// CronJob.
type keeping struct {
	spans  []Kept
	open   map[types.UID]int // index in spans by Job; a suspension has no UID
	runs   map[types.UID]*events.RunSeen
	gone   map[types.UID]bool // deleted Jobs: status.active may name them for a moment
	policy string
	since  events.Time // newest due time that is known to have started
}

func (k *keeping) seen(run *events.RunSeen) {
	if k.runs == nil {
		k.runs = map[types.UID]*events.RunSeen{}
	}
	k.runs[run.Job] = run
}

// left takes in that a Job was deleted, or that it no longer belongs to the CronJob: the end of such a Job is never
// seen.
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

// keep takes in what a record says about what keeps the CronJob from starting.
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

// change ends the spans that no longer apply, and begins new ones.
func (k *keeping) change(keeps map[types.UID]Kept, at Place) {
	if k.open == nil {
		k.open = map[types.UID]int{}
	}
	for uid, i := range k.open {
		s, still := keeps[uid]
		switch span := &k.spans[i]; {
		case still && span.Unseen && !s.Unseen:
			*span = s // a record shows the Job after the status that names it
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

// Slack at the start and the end of a due time's wait: the other controller reacts some time after a hold begins or
// ends, and watches deliver both with a delay.
const (
	slackBefore = 2 * time.Second
	slackAfter  = 10 * time.Second
)

// Kept returns the times between two instants in which the CronJob could not start, in order. whole reports whether
// they cover the whole interval, up to the slack.
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

// keptNow returns what keeps the CronJob from starting now: a suspension rather than a running Job. It returns nil for
// nothing, and for a Job that is not known to run.
func (c *CronJob) keptNow() (now *Kept) {
	for i := range c.kept.spans {
		if s := &c.kept.spans[i]; s.Until == 0 && !s.Unseen && (now == nil || s.By == events.HeldSuspended) {
			now = s
		}
	}
	return now
}

// free returns the first instant, from on or later, at which nothing kept the CronJob from starting.
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
