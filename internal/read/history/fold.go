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

// Fold folds records into Jobs and CronJobs like the controller does, and keeps an [Account] or a [CronAccount] of
// each. Where the controller forgets (a Job that is over leaves its memory), Fold remembers how it ended. It is not
// safe for concurrent use.
type Fold struct {
	// Brief keeps no more than what a summary needs, and of Jobs that are over the summary itself: for a fold of many
	// Jobs.
	Brief bool

	world    *projector.World
	accounts map[events.Stream]*Account
	crons    map[events.Stream]*CronAccount
}

// Account is what the log says about one Job, beside its projection.
type Account struct {
	Stream      events.Stream
	First, Last events.Sequence // its own records; First is 0 when there were earlier ones that were not folded
	LastAt      events.Time
	Records     uint64
	Decision    *events.Record  // the newest one
	Trouble     failures        // the newest of each sort of command, if none succeeded since
	Retired     events.Sequence // the record that closed it; 0 while it is open
	Deleted     events.Sequence // the record that says that its object is gone
	Rewound     events.Sequence // the record that begins another epoch, when nothing was seen of the Job since

	pods    map[types.UID]*podNote    // what the projection does not hold of pods; nil in a brief fold
	gone    []goneFrom                // pods whose objects are gone, in the order in which they went
	said    map[events.CommandID]said // how commands failed that have not ended
	writing said                      // how the newest status write failed
	job     *projector.Job
	summary *Summary // of a Job that is over, in a brief fold
	ended   ended    // of one that was over before the first record that was folded
	names   words.Names
}

// failures are some of commands, by sort; nil for none.
type failures [events.MaxSort + 1]*Failure

// NewFold is the fold of no records.
func NewFold() *Fold { return FoldOn(projector.NewWorld()) }

// FoldOn goes on from a world, which is the fold's from now on. It knows no account yet.
func FoldOn(w *projector.World) *Fold {
	return &Fold{world: w, accounts: map[events.Stream]*Account{}, crons: map[events.Stream]*CronAccount{}}
}

// Apply folds the next record.
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
	default: // it is told only where nothing else is known
		a.end(f.world.Retired(r.Stream), r)
	}
	a.mark(r)
	if !f.Brief {
		a.note(r)
		a.notePod(r)
	}
	if f.Brief && after == nil && a.job != nil {
		s := SummaryOf(a)
		a.summary, a.job = &s, nil
	}
}

// tells reports whether a projection says more than the account has. A watch may show an older version of a pod once
// its Job is over: that opens a placeholder, which knows nothing of the Job.
func (a *Account) tells(j *projector.Job) bool {
	return a.Retired == 0 || j.Known() || j == a.job || a.job == nil && a.summary == nil
}

// ended is what is known of a Job whose records before its end were not folded.
type ended struct {
	ref      events.JobRef
	finished events.Time // 0 when that is not known
}

// end takes in what a record tells of a Job that had ended before.
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

// Recall begins the account of a Job of which nothing was folded with what earlier records said of it. What is kept of
// one that is not over is restored into the World beside that.
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

// World is the projection. The caller does not change it.
func (f *Fold) World() *projector.World { return f.world }

// Account is that of a Job; nil when no record of it was folded.
func (f *Fold) Account(s events.Stream) *Account { return f.accounts[s] }

// Projected is the Job as it is projected, or as it was when it left the projection; nil when it was never there, and
// in a brief fold of a Job that is over. The caller does not change it.
func (a *Account) Projected() *projector.Job { return a.job }

// Accounts are those of all Jobs, in the order of their first records.
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

// mark keeps how far the Job has come.
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

// note keeps what people ask about and the projection does not hold.
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

// commandEnded notes a failure, or that the same sort of command succeeded since.
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

// hear keeps what the API server said of a command that failed.
func (a *Account) hear(sort events.Sort, r *events.Record, f *events.CommandEnded) {
	s := said{r.Sequence, r.Evidence.Message}
	if s.text == "" {
		s.text = r.Evidence.Sentence
	}
	stands := false
	if a.job != nil { // else its state is yet to come
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
