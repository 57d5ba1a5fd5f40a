package history

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/projector"
)

// CronAccount holds what the log says about one CronJob beside its projection.
type CronAccount struct {
	Stream      events.Stream
	First, Last events.Sequence // its own records; First is 0 if the account began with a stored state
	LastAt      events.Time
	Decision    *events.Record  // the newest decision
	Trouble     failures        // newest failure of each sort of command that did not succeed since
	Deleted     events.Sequence // record that says that the object is gone; 0 while it exists
	Rewound     events.Sequence // record that begins a new epoch, if the CronJob was not seen since; else 0
	Tick        *Tick           // newest due time with a fate; nil if no folded record has one
	Held        Place           // record since which the open due time is held back
	Backoff     Place           // failure that began the backoff; zero if no folded record has it

	heldFor heldFor            // hold that Held belongs to
	backoff events.Time        // end of the backoff that Backoff belongs to
	made    map[types.UID]Tick // origin of Jobs that no due time asked for
	job     *projector.CronJob
	summary *CronSummary // set in a brief fold once the CronJob is gone
	names   words.Names
}

// heldFor is a due time that is held back, and the name of its events.TickHold.
type heldFor struct {
	due events.Time
	by  string
}

// Projected returns the projection of the CronJob, or its last state if it left the World. It is nil if the World never
// had the CronJob, and for a gone CronJob of a brief fold. The caller must not change it.
func (a *CronAccount) Projected() *projector.CronJob { return a.job }

// CronAccount returns the account of a CronJob; nil if the fold has seen no record of it.
func (f *Fold) CronAccount(s events.Stream) *CronAccount { return f.crons[s] }

// CronAccounts returns the accounts of all CronJobs, in the order of their first records.
func (f *Fold) CronAccounts() []*CronAccount {
	out := make([]*CronAccount, 0, len(f.crons))
	for _, a := range f.crons {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *CronAccount) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Stream.ID, b.Stream.ID))
	})
	return out
}

// RecallCron begins the account of a CronJob from its summary, for a fold that has seen none of its records. The caller
// restores the projection of an existing CronJob into the World separately.
func (f *Fold) RecallCron(s CronSummary) {
	a := f.newCron(events.CronJobStream(types.UID(s.UID)))
	a.First, a.Last, a.Tick, a.summary = events.Sequence(s.First), events.Sequence(s.Last), s.LastDue, &s
	if s.Due != nil {
		a.Held, a.heldFor = Place{Sequence: s.Due.Record, Time: s.Due.Since}, heldFor{events.Time(s.Due.At), s.Due.Hold}
	}
	if s.Gone {
		a.Deleted = a.Last
	}
}

func (f *Fold) newCron(s events.Stream) *CronAccount {
	a := &CronAccount{Stream: s, made: map[types.UID]Tick{}}
	f.crons[s] = a
	return a
}

// applyCron adds a record of a CronJob's stream to its account, after the World has folded it.
func (f *Fold) applyCron(r *events.Record, before *projector.CronJob) {
	a := f.crons[r.Stream]
	if a == nil {
		a = f.newCron(r.Stream)
		if r.Kind != events.KindStateStored {
			a.First = r.Sequence
		}
	}
	a.Last, a.LastAt = r.Sequence, r.Time
	after := f.world.CronJob(r.Stream)
	switch {
	case after != nil:
		a.job, a.summary = after, nil
	case before != nil:
		a.job = before
	}
	a.take(r)
	a.backs(r)
	if !f.Brief {
		a.note(r)
	}
	if f.Brief && after == nil {
		s := CronSummaryOf(a)
		a.summary, a.job = &s, nil
	}
}

// backs notes which failure began the current backoff. A failure that does not move the end of the backoff is ignored
// (C-089).
func (a *CronAccount) backs(r *events.Record) {
	if a.job == nil || a.job.Retry().Until == a.backoff {
		return
	}
	a.backoff, a.Backoff = a.job.Retry().Until, Place{}
	if _, failed := r.Facts.(*events.CommandEnded); failed && a.backoff != 0 {
		a.Backoff = Place{uint64(r.Sequence), recordjson.Instant(r.Time)}
	}
}

// take notes deletions and sights of the CronJob, and the fates of its due times.
func (a *CronAccount) take(r *events.Record) {
	switch f := r.Facts.(type) {
	case *events.CronJobGone:
		a.Deleted = r.Sequence
	case *events.CronJobSeen:
		a.Deleted, a.Rewound = 0, 0
	case *events.RunGone:
		delete(a.made, f.Job)
	case *events.Decision:
		if r.Kind == events.KindWouldDecide {
			return
		}
		for i := range f.Steps {
			if step := f.Steps[i].Cron; step != nil {
				a.step(r, step)
			}
		}
	}
}

func (a *CronAccount) step(r *events.Record, step *events.CronStep) {
	for i := range step.Ticks {
		t := TickOf(&step.Ticks[i], r.Sequence)
		if step.Ticks[i].Fate == events.TickManual || step.Ticks[i].Fate == events.TickTriggered {
			if a.made != nil {
				a.made[step.Ticks[i].Job] = t
			}
			continue
		}
		a.Tick = &t
	}
	switch l := step.Ledger; {
	case l == nil:
	case l.Open == 0 || l.Hold == events.NotHeld:
		a.Held, a.heldFor = Place{}, heldFor{}
	case a.heldFor != heldFor{l.Open, l.Hold.String()}: // each refused try repeats the hold
		a.Held, a.heldFor = Place{Sequence: uint64(r.Sequence), Time: recordjson.Instant(r.Time)}, heldFor{l.Open, l.Hold.String()}
	}
}

// note keeps the newest decision, failures and names, which the projection does not hold.
func (a *CronAccount) note(r *events.Record) {
	switch f := r.Facts.(type) {
	case *events.Decision:
		if r.Kind == events.KindDecided {
			kept := *r
			a.Decision = &kept
		}
	case *events.CommandEnded:
		a.ended(r, f)
	}
	a.names.Learn(r)
	if _, ends := r.Facts.(*events.CommandEnded); ends {
		a.names.Forget(r)
	}
}

// ended notes a failure, or clears it when a command of the same sort succeeds.
func (a *CronAccount) ended(r *events.Record, f *events.CommandEnded) {
	t := f.Type.Traits()
	if t == nil {
		return
	}
	switch f.Ending {
	case events.Done:
		a.Trouble[t.Sort] = nil
	case events.Refused, events.OutcomeUnknown:
		a.Trouble[t.Sort] = &Failure{uint64(r.Sequence), recordjson.Instant(r.Time), a.names.Detail(r)}
	case events.Withdrawn:
	}
}
