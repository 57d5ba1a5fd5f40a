package history

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
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

	job      *projector.CronJob
	told     *cronjob.Told // what job says of earlier records; what the last known job said, if it is not known
	summary  *CronSummary  // set in a brief fold once the CronJob is gone
	due      *Tick         // newest due time with a fate, by the summary of RecallCron
	names    words.Names
	recalled bool // see recall
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
// has restored the projection of an existing CronJob into the World.
func (f *Fold) RecallCron(s CronSummary) {
	a := f.newCron(events.CronJobStream(types.UID(s.UID)))
	a.First, a.Last, a.due, a.summary = events.Sequence(s.First), events.Sequence(s.Last), s.LastDue, &s
	if s.Gone {
		a.Deleted = a.Last
	}
	if job := f.world.CronJob(a.Stream); job != nil {
		a.job, a.told, a.summary = job, &job.Told, nil
	}
}

func (f *Fold) newCron(s events.Stream) *CronAccount {
	a := &CronAccount{Stream: s}
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
	after, begins := f.world.CronJob(r.Stream), a.Last == 0
	a.Last, a.LastAt = r.Sequence, r.Time
	switch {
	case after != nil:
		a.job, a.summary = after, nil
	case before != nil:
		a.job = before
	}
	if a.job != nil && (a.told == nil || a.job.Known()) {
		a.told = &a.job.Told
	}
	a.take(r)
	if !f.Brief {
		if begins && after != nil { // with a stored state, commands may be in flight
			for _, c := range after.Flights() {
				a.names.Issued(a.Stream, c.Name(), c.Command)
			}
		}
		a.note(r)
	}
	if f.Brief && after == nil {
		s := CronSummaryOf(a)
		a.summary, a.job = &s, nil
		if a.told != nil {
			told := *a.told // apart from the projection, which is large
			a.told = &told
		}
	}
}

// take notes deletions and sights of the CronJob.
func (a *CronAccount) take(r *events.Record) {
	switch r.Facts.(type) {
	case *events.CronJobGone:
		a.Deleted = r.Sequence
	case *events.CronJobSeen:
		a.Deleted, a.Rewound = 0, 0
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
