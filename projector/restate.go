package projector

import (
	"cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/line"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// statement tracks which subjects have a checkpoint (a StateStored record) in the newest file of the log. A file is
// self-contained once it has the state of every stream. The lists are ordered by the last checkpoint of each subject.
type statement struct {
	jobs     line.Line[Job]     // Jobs, and the pods without an owner of each namespace
	stubs    line.Line[Retired] // retired Jobs
	crons    line.Line[CronJob] // CronJobs
	restated events.Sequence    // first record of the newest file known to be self-contained (Restated)
	parts    Parts              // parts of states whose last part has not come yet (Collecting)
	passed   bool               // since the newest file began, records of such streams were skipped
}

func newStatement() statement {
	return statement{
		jobs:  line.New(func(j *Job) *line.Links[Job] { return &j.stating }),
		stubs: line.New(func(r *Retired) *line.Links[Retired] { return &r.place }),
		crons: line.New(func(c *CronJob) *line.Links[CronJob] { return &c.stating }),
		parts: Parts{},
	}
}

// ToWire adds the fields of s to the encoded state of the controller.
func (s *statement) ToWire(to *pb.WorldState) { to.Restated = uint64(s.restated) }

// FromWire takes the fields of s from the encoded state of the controller.
func (s *statement) FromWire(from *pb.WorldState) { s.restated = events.Sequence(from.GetRestated()) }

// Restated returns the first record of the newest file, and the first record of the newest file known to be
// self-contained (events.FileRestated). Each is 0 if there is none: a log of one file needs no checkpoint.
func (w *World) Restated() (newest, whole events.Sequence) { return w.specs.Since(), w.stated.restated }

// Unstated returns a stream without a checkpoint in the newest file, which begins with record first. Such a stream has
// no record in the file, or the last part of its state is missing. ok is false if there is none.
func (w *World) Unstated(first events.Sequence) (s events.Stream, ok bool) {
	if j := w.stated.jobs.First(); j != nil && (j.Head < first || j.division.open) {
		return j.Stream, true
	}
	if r := w.stated.stubs.First(); r != nil && r.Head < first {
		return r.ID(), true
	}
	if c := w.stated.crons.First(); c != nil && c.Head < first {
		return c.Stream, true
	}
	return events.Stream{}, false
}

// Stating returns the same streams as Streams, ordered by when they began or had their last checkpoint. It does not
// sort: the order is maintained anyway, because there may be 100,000 retired Jobs.
func (w *World) Stating() []events.Stream {
	out := make([]events.Stream, 0, w.Len()+w.Stubs())
	for j := range w.stated.jobs.All() {
		out = append(out, j.Stream)
	}
	for r := range w.stated.stubs.All() {
		out = append(out, r.ID())
	}
	for c := range w.stated.crons.All() {
		out = append(out, c.Stream)
	}
	return out
}

// StateBytes estimates the encoded size of a stream's state in bytes, without encoding it.
func (w *World) StateBytes(s events.Stream) int {
	const stub, pod, cron, run = 60, 110, 300, 120
	if c := w.CronJob(s); c != nil {
		return cron + run*len(c.Runs)
	}
	if subject := w.subjects[s]; subject != nil {
		j := HolderOf(subject)
		return j.restBytes() + pod*j.PodCount()
	}
	return stub
}

// stateAgain folds a StateStored record of a known stream, by making it the newest record of the stream. Nothing else
// changes, except that a subject with nothing left is dropped: it was kept only until its checkpoint was complete.
func (w *World) stateAgain(rec *events.Record, f *events.StoredState) {
	if r := w.Retired(rec.Stream); r != nil {
		r.Head = rec.Sequence
		w.stated.stubs.ToEnd(r)
		return
	}
	subject := w.subjects[rec.Stream]
	if subject == nil {
		return
	}
	if c, ok := subject.(*CronJob); ok {
		c.Head = rec.Sequence
		w.stated.crons.ToEnd(c)
		return
	}
	j := HolderOf(subject)
	j.Head = rec.Sequence
	part, last := partOf(f.Encoded)
	parted := j.division.open
	if j.division.open = part != 0 && !last; j.division.open {
		return
	}
	w.stated.jobs.ToEnd(j)
	if parted {
		w.close(subject)
	}
}

// unpart folds the beginning of a new file, which has no parts of any state yet. Subjects that were kept only because
// of their parts in the old file are dropped or retired, in the order in which they began.
func (w *World) unpart() {
	for _, s := range w.Subjects() {
		if j := HolderOf(s); j != nil && j.division.open {
			j.division.open = false
			w.close(s)
		}
	}
}

// sortStated orders the lists by each subject's newest record, because a snapshot has another order. Subjects that have
// only parts of their state in the newest file come first.
func (w *World) sortStated() {
	w.stated.jobs.Sort(func(a, b *Job) int {
		return cmp.Or(cmp.Compare(a.statedAt(), b.statedAt()), cmp.Compare(a.Head, b.Head))
	})
	w.stated.stubs.Sort(func(a, b *Retired) int { return cmp.Compare(a.Head, b.Head) })
	w.stated.crons.Sort(func(a, b *CronJob) int { return cmp.Compare(a.Head, b.Head) })
}

// statedAt returns the place of the Job in its list: its newest record, or 0 if the newest file has only parts of its
// state.
func (j *Job) statedAt() events.Sequence {
	if j.division.open {
		return 0
	}
	return j.Head
}
