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

// CronAccount is what the log says about one CronJob, beside its projection.
type CronAccount struct {
	Stream      events.Stream
	First, Last events.Sequence // its own records; First is 0 when the account began with a stored state
	LastAt      events.Time
	Decision    *events.Record  // the newest one
	Trouble     failures        // the newest of each sort of command, if none succeeded since
	Deleted     events.Sequence // the record that says that its object is gone; 0 while it is there
	Rewound     events.Sequence // the record that begins another epoch, when nothing was seen of the CronJob since
	Tick        *Tick           // the newest due time that has its fate; nil when no record that was folded tells of one
	Held        Place           // the record since which something holds the open due time back
	Backoff     Place           // the failure since which the next try waits; zero when no record that was folded tells of it

	heldFor heldFor            // of Held
	backoff events.Time        // until when it waits, of Backoff
	made    map[types.UID]Tick // how Jobs came to be that no due time asked for
	job     *projector.CronJob
	summary *CronSummary // of one that is over, in a brief fold
	names   words.Names
}

// heldFor is which due time is held back, and a name of events.TickHold.
type heldFor struct {
	due events.Time
	by  string
}

// Projected is the CronJob as it is projected, or as it was when it left the projection; nil when it was never there,
// and in a brief fold of one that is over. The caller does not change it.
func (a *CronAccount) Projected() *projector.CronJob { return a.job }

// CronAccount is that of a CronJob; nil when no record of it was folded.
func (f *Fold) CronAccount(s events.Stream) *CronAccount { return f.crons[s] }

// CronAccounts are those of all CronJobs, in the order of their first records.
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

// RecallCron begins the account of a CronJob of which nothing was folded with what earlier records said of it. What is
// kept of one that is not over is restored into the World beside that.
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

// applyCron takes a record of a CronJob's stream that the World has folded into its account.
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

// backs keeps since which failure the next try waits: not each failure moves it (C-089).
func (a *CronAccount) backs(r *events.Record) {
	if a.job == nil || a.job.Retry().Until == a.backoff {
		return
	}
	a.backoff, a.Backoff = a.job.Retry().Until, Place{}
	if _, failed := r.Facts.(*events.CommandEnded); failed && a.backoff != 0 {
		a.Backoff = Place{uint64(r.Sequence), recordjson.Instant(r.Time)}
	}
}

// take keeps how far the CronJob has come.
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
	case a.heldFor != heldFor{l.Open, l.Hold.String()}: // each try that is refused tells it again
		a.Held, a.heldFor = Place{Sequence: uint64(r.Sequence), Time: recordjson.Instant(r.Time)}, heldFor{l.Open, l.Hold.String()}
	}
}

// note keeps what people ask about and the projection does not hold.
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

// ended notes a failure, or that the same sort of command succeeded since.
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
