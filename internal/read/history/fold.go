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

// Fold makes the states of Jobs and CronJobs from records, as the controller does. For each object it also keeps an
// [Account] or a [CronAccount] with more facts. It remembers how a Job ended, while the controller forgets the Job. Not
// safe for concurrent use.
type Fold struct {
	// Brief saves memory in folds of many Jobs: set it if only summaries are needed. Of a finished Job, only the
	// Summary is kept.
	Brief bool

	world    *projector.World
	accounts map[events.Stream]*Account
	crons    map[events.Stream]*CronAccount
}

// Account holds facts about one Job that its projection (the state made from its records) does not keep, such as its
// newest decision. Fold keeps one for each Job.
type Account struct {
	Stream      events.Stream
	First, Last events.Sequence // the Job's first and newest record; First is 0 if the first one was not folded
	LastAt      events.Time
	Records     uint64
	Decision    *events.Record  // the newest decision
	Trouble     failures        // for each sort of command: its newest failure; nil if a later one succeeded
	Retired     events.Sequence // record that nothing is left to do for the Job; 0 before
	Deleted     events.Sequence // record of the object's deletion; 0 while it exists
	Rewound     events.Sequence // record of a new epoch (a restored cluster) since which the Job was not seen; else 0

	pods    map[types.UID]*podNote    // facts about pods that the projection lacks; nil with Brief
	gone    []goneFrom                // last states of pods that were deleted, in the order of their deletion
	said    map[events.CommandID]said // error texts of failed commands that will be tried again
	writing said                      // error text of the newest failed status write
	job     *projector.Job
	summary *Summary // set instead of job when the Job is over, if Fold.Brief is set
	ended   ended    // what is known of a Job that was over before the first record of the fold
	names   words.Names
}

// failures has, for each sort of command (an index), the newest failure; nil for none.
type failures [events.MaxSort + 1]*Failure

// NewFold returns an empty Fold.
func NewFold() *Fold { return FoldOn(projector.NewWorld()) }

// FoldOn returns a Fold that continues from the states in w. The caller must not use w any more. Accounts appear with
// the first new record of each object.
func FoldOn(w *projector.World) *Fold {
	return &Fold{world: w, accounts: map[events.Stream]*Account{}, crons: map[events.Stream]*CronAccount{}}
}

// Apply updates the states with the next record of the log.
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
	default: // the Job was over before the fold began, or r is a late record of one of its pods
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

// tells reports whether account a should take over state j. A watch may report a pod after the end of its Job: this
// makes an empty state, which must not replace what is known of the Job.
func (a *Account) tells(j *projector.Job) bool {
	known := a.job != nil && a.job.Known() || a.summary != nil && a.summary.State != StateUnseen
	return j.Known() || j == a.job || !known
}

// ended is what is known of a Job that was over before the first record of the fold: its name and its end.
type ended struct {
	ref      events.JobRef
	finished events.Time // 0 if unknown
}

// end updates a.ended, what is known of a Job that was over before the fold began: its name and its end. r is what the
// World (the states of all objects) remembers of such a Job, nil for nothing; rec is the newest record of the Job.
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

// Recall continues from summary s of a Job whose older records are not read again. If the Job is active, the caller
// puts its state into the World.
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

// World returns the current states of all objects. The caller must not change them.
func (f *Fold) World() *projector.World { return f.world }

// Account returns the account of a Job, or nil if the fold has seen no record of it.
func (f *Fold) Account(s events.Stream) *Account { return f.accounts[s] }

// Projected returns the newest state of the Job that was made from records, also after its end. It is nil if no record
// told the state, and with Fold.Brief for a finished Job. The caller must not change it.
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

// mark updates Retired, Deleted and Rewound if record r says that nothing is left to do for the Job, that its object is
// gone, or that it was seen again.
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

// note keeps from record r what the projection (the state) lacks: the newest decision, failures of commands, and the
// names of objects.
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

// commandEnded updates Trouble (the newest failure of each sort of command) when a command ends: a failure is kept, and
// a success of the same sort of command clears it.
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

// hear keeps the error text in record r of a failed command, until the controller no longer tries the command again.
func (a *Account) hear(sort events.Sort, r *events.Record, f *events.CommandEnded) {
	s := said{r.Sequence, r.Evidence.Message}
	if s.text == "" {
		s.text = r.Evidence.Sentence
	}
	stands := false
	if a.job != nil { // without a state it is not known whether the command is tried again
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
