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

// Fold folds records into the states of Jobs and CronJobs, like the controller does. It also keeps an [Account] or a
// [CronAccount] of each, and remembers how a Job ended, while the controller forgets the Job. Not safe for concurrent
// use.
type Fold struct {
	// Brief keeps only what summaries need, and of a finished Job only its Summary. It saves memory in folds of many
	// Jobs.
	Brief bool

	world    *projector.World
	accounts map[events.Stream]*Account
	crons    map[events.Stream]*CronAccount
}

// Account holds facts about one Job that the projection does not keep, such as its newest decision. Fold keeps an
// Account for each Job.
type Account struct {
	Stream      events.Stream
	First, Last events.Sequence // the Job's first and newest record; First is 0 if the first one was not folded
	LastAt      events.Time
	Records     uint64
	Decision    *events.Record  // the newest decision
	Trouble     failures        // for each sort of command: the newest failure, if no such command succeeded since
	Retired     events.Sequence // record JobRetired: nothing is left to do for the Job; 0 before
	Deleted     events.Sequence // record that says that the object is gone
	Rewound     events.Sequence // record of a new epoch (a restored cluster), if the Job was not seen since; else 0

	pods    map[types.UID]*podNote    // facts about pods that the projection does not hold; nil with Brief
	gone    []goneFrom                // pods whose objects are gone, in the order in which they went
	said    map[events.CommandID]said // error texts of failed commands that are being retried
	writing said                      // error text of the newest failed status write
	job     *projector.Job
	summary *Summary // set with Brief when the Job is over; job is nil then
	ended   ended    // set if the Job was over before the first folded record
	names   words.Names
}

// failures holds the newest failure for each sort of command; nil for none.
type failures [events.MaxSort + 1]*Failure

// NewFold returns an empty Fold.
func NewFold() *Fold { return FoldOn(projector.NewWorld()) }

// FoldOn returns a Fold that continues from the projections in w, and takes ownership of w. It has no accounts yet.
func FoldOn(w *projector.World) *Fold {
	return &Fold{world: w, accounts: map[events.Stream]*Account{}, crons: map[events.Stream]*CronAccount{}}
}

// Apply folds the next record of the log.
func (f *Fold) Apply(r *events.Record) {
	before, cronBefore := f.world.Job(r.Stream), f.world.CronJob(r.Stream)
	if a := f.accounts[r.Stream]; a != nil && !f.Brief {
		a.farewell(before, r)
	}
	f.world.Apply(r)
	if _, ok := r.Facts.(*events.EpochChanged); ok {
		for _, a := range f.accounts {
			a.Rewound, a.said, a.writing, a.Trouble = r.Sequence, nil, said{}, failures{}
		}
		for _, a := range f.crons {
			a.Rewound, a.Trouble = r.Sequence, failures{}
		}
	}
	if r.Stream.Kind == events.StreamCronJob {
		f.applyCron(r, cronBefore)
	}
	if r.Stream.Kind != events.StreamJob {
		return
	}
	a := f.accounts[r.Stream]
	if a == nil {
		a = &Account{Stream: r.Stream}
		if r.Kind != events.KindStateStored && r.Previous == 0 {
			a.First = r.Sequence
		}
		f.accounts[r.Stream] = a
	}
	a.Last, a.LastAt = r.Sequence, r.Time
	a.Records++
	after := f.world.Job(r.Stream)
	switch {
	case after != nil && a.tells(after):
		a.job, a.summary = after, nil
	case after == nil && before != nil && a.tells(before):
		a.job = before
	default: // a.ended counts only if nothing else is known of the Job
		a.end(f.world.Retired(r.Stream), r)
	}
	a.mark(r)
	if !f.Brief {
		a.note(r)
		a.notePod(r)
	}
	if f.Brief && after == nil {
		s := SummaryOf(a)
		a.summary, a.job = &s, nil
	}
}

// tells reports whether projection j is worth keeping in the account. A pod that a watch delivers after the end of its
// Job opens an empty projection; this must not replace the known state of the Job.
func (a *Account) tells(j *projector.Job) bool {
	known := a.job != nil && a.job.Known() || a.summary != nil && a.summary.State != StateUnseen
	return j.Known() || j == a.job || !known
}

// ended has what is known of a Job that was over before the first folded record.
type ended struct {
	ref      events.JobRef
	finished events.Time // 0 if unknown
}

// end updates a.ended from a record.
func (a *Account) end(r *projector.Retired, rec *events.Record) {
	switch {
	case r != nil:
		a.ended = ended{r.Ref, r.Finished}
	case rec.Kind == events.KindJobDeleted:
		a.ended.ref.Namespace, a.ended.ref.Name = rec.Evidence.Namespace, rec.Evidence.Name
	case a.ended.ref.Name == "" && rec.Evidence.Owner != "":
		a.ended.ref.Namespace, a.ended.ref.Name = rec.Evidence.Namespace, rec.Evidence.Owner
	}
}

// Recall adds the account of a Job whose records are not folded again, from its stored summary. The caller puts the
// projection of an active Job into the World itself.
func (f *Fold) Recall(s Summary) {
	a := &Account{
		Stream: events.JobStream(types.UID(s.UID)), First: events.Sequence(s.First), Last: events.Sequence(s.Last), Records: s.Records,
		summary: &s,
	}
	if s.Gone {
		a.Deleted = a.Last
	}
	f.accounts[a.Stream] = a
}

// World returns the projections that were folded. The caller must not change them.
func (f *Fold) World() *projector.World { return f.world }

// Account returns the account of a Job, or nil if the fold has seen no record of it.
func (f *Fold) Account(s events.Stream) *Account { return f.accounts[s] }

// Projected returns the projection of the Job; after the World dropped it, its last state. It is nil if the World never
// had the Job, and with Fold.Brief for a finished Job. The caller must not change it.
func (a *Account) Projected() *projector.Job { return a.job }

// Accounts returns the accounts of all Jobs, ordered by their first records.
func (f *Fold) Accounts() []*Account {
	out := make([]*Account, 0, len(f.accounts))
	for _, a := range f.accounts {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *Account) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Stream.ID, b.Stream.ID))
	})
	return out
}

// mark updates Retired, Deleted and Rewound: has the Job ended, was it deleted, or was it seen again?
func (a *Account) mark(r *events.Record) {
	switch r.Facts.(type) {
	case *events.JobRetired:
		a.Retired = r.Sequence
	case *events.JobGone:
		a.Deleted = r.Sequence
	case *events.JobSeen:
		a.Deleted, a.Retired, a.Rewound = 0, 0, 0
	}
}

// note keeps what the projection does not: the newest decision, the failures, and the names of objects.
func (a *Account) note(r *events.Record) {
	switch f := r.Facts.(type) {
	case *events.Decision:
		if r.Kind == events.KindDecided {
			kept := *r
			a.Decision = &kept
		}
	case *events.CommandEnded:
		a.commandEnded(r, f)
	}
	a.names.Learn(r)
	switch r.Facts.(type) {
	case *events.CommandEnded, *events.PodGone:
		a.names.Forget(r)
	}
}

// commandEnded keeps the failure of a command. Success of a command of the same sort clears the failure.
func (a *Account) commandEnded(r *events.Record, f *events.CommandEnded) {
	sort := events.SortChange
	if t := f.Type.Traits(); t != nil {
		sort = t.Sort
	}
	switch f.Ending {
	case events.Done:
		a.Trouble[sort] = nil
		delete(a.said, f.Command)
	case events.Refused, events.OutcomeUnknown:
		a.hear(sort, r, f)
		a.Trouble[sort] = &Failure{uint64(r.Sequence), recordjson.Instant(r.Time), a.names.Detail(r)}
	case events.Withdrawn:
		delete(a.said, f.Command)
	}
}

// hear keeps the error text of a failed command, for as long as the command is retried.
func (a *Account) hear(sort events.Sort, r *events.Record, f *events.CommandEnded) {
	s := said{r.Sequence, r.Evidence.Message}
	if s.text == "" {
		s.text = r.Evidence.Sentence
	}
	stands := false
	if a.job != nil { // if nil, a later record brings the state
		flight, _ := a.job.Retrying(f.Command)
		stands = flight != nil
	}
	switch {
	case sort == events.SortWrite:
		a.writing = s
	case stands:
		if a.said == nil {
			a.said = map[events.CommandID]said{}
		}
		a.said[f.Command] = s
	default:
		delete(a.said, f.Command)
	}
}
