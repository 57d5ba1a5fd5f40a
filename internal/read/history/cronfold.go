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

// CronAccount holds facts about one CronJob that its projection (the state made from its records) does not keep, such
// as its newest decision. Fold keeps one for each CronJob.
type CronAccount struct {
	Stream      events.Stream
	First, Last events.Sequence // the CronJob's first and newest record; First is 0 if the fold began at a checkpoint
	LastAt      events.Time
	Decision    *events.Record  // the newest decision
	Trouble     failures        // for each sort of command: its newest failure; nil if a later one succeeded
	Deleted     events.Sequence // record of the object's deletion; 0 while it exists
	Rewound     events.Sequence // new epoch (restored cluster) since which the CronJob was not seen; else 0

	job *projector.CronJob
	// told is job.Told, which has numbers of records, such as that of the newest decision. It stays when job is freed.
	told    *cronjob.Told
	summary *CronSummary // set instead of job when the CronJob is gone, if Fold.Brief is set
	// due is the newest due time with an outcome, by the stored summary with which the fold began; nil if it began
	// without a summary.
	due      *Tick
	names    words.Names
	recalled bool // the method recall has read the records that told names
}

// Projected returns the newest state of the CronJob that was made from records, also after its deletion. It is nil if
// no record told the state, and with Fold.Brief for a deleted CronJob. The caller must not change it.
func (a *CronAccount) Projected() *projector.CronJob { return a.job }

// CronAccount returns the CronAccount of a CronJob, or nil if the fold has seen no record of it.
func (f *Fold) CronAccount(s events.Stream) *CronAccount { return f.crons[s] }

// CronAccounts returns the CronAccounts of all CronJobs, ordered by their first records.
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

// RecallCron continues from summary s of a CronJob whose older records are not read again. If the CronJob still exists,
// the caller must have put its state into the World before.
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

// applyCron updates the CronAccount after r, a record of the CronJob. The World has folded r already; before is the
// CronJob's state without r.
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
		// The fold of this CronJob begins with this record. If it is a checkpoint, commands may be open that were
		// issued before it: learn them from the state.
		if begins && after != nil {
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
			told := *a.told // a copy: a pointer into the state (job) would keep the memory of the whole state in use
			a.told = &told
		}
	}
}

// take sets Deleted if record r shows the deletion of the CronJob, and resets Deleted and Rewound if r shows the
// CronJob.
func (a *CronAccount) take(r *events.Record) {
	switch r.Facts.(type) {
	case *events.CronJobGone:
		a.Deleted = r.Sequence
	case *events.CronJobSeen:
		a.Deleted, a.Rewound = 0, 0
	}
}

// note keeps from record r what the projection (the state) lacks: the newest decision, failures of commands, and the
// names of objects.
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

// ended updates Trouble (the newest failure of each sort of command) when a command ends: a failure is kept, and a
// success of the same sort of command clears it.
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
