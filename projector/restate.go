package projector

import (
	"cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/line"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// statement tracks which subjects the newest file has checkpointed. A file is self-contained once it has the state of
// every stream.
type statement struct {
	jobs     line.Line[Job]     // holders of pods, by last checkpoint
	stubs    line.Line[Retired] // retired Jobs, by last checkpoint
	crons    line.Line[CronJob] // CronJobs, by last checkpoint
	restated events.Sequence    // first record of the newest file known to be self-contained; see Restated
	parts    Parts              // streams of which only parts are known; see Collecting
	passed   bool               // records of such a stream were skipped since the newest file began
}

func newStatement() statement {
	return statement{
		jobs:  line.New(func(j *Job) *line.Links[Job] { return &j.stating }),
		stubs: line.New(func(r *Retired) *line.Links[Retired] { return &r.place }),
		crons: line.New(func(c *CronJob) *line.Links[CronJob] { return &c.stating }),
		parts: Parts{},
	}
}

// ToWire encodes it into the controller\'s state.
func (s *statement) ToWire(to *pb.WorldState) { to.Restated = uint64(s.restated) }

// FromWire decodes it from the controller\'s state.
func (s *statement) FromWire(from *pb.WorldState) { s.restated = events.Sequence(from.GetRestated()) }

// Restated returns the first record of the newest file, and that of the newest file known to be self-contained
// (events.FileRestated). Each is 0 if there is none: a log of one file needs no checkpoint.
func (w *World) Restated() (newest, whole events.Sequence) { return w.specs.Since(), w.stated.restated }

// Unstated returns a stream that the newest file, which begins with first, has not checkpointed: a stream without a
// record in it, or whose last part is missing. ok is false if there is none.
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

// Stating returns the same streams as Streams, ordered by when they began or were last checkpointed. The order is
// maintained anyway, so 100,000 retired Jobs need no sorting.
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

// stateAgain makes a StateStored record the newest record of its stream. Nothing else changes, except that a subject
// with nothing left, kept only until its checkpoint, is dropped.
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

// unpart begins a new file, which has no parts of any state. Subjects that retire are listed in the order in which
// they began.
func (w *World) unpart() {
	for _, s := range w.Subjects() {
		if j := HolderOf(s); j != nil && j.division.open {
			j.division.open = false
			w.close(s)
		}
	}
}

// sortStated orders subjects by their newest records, since a snapshot gives another order. Subjects that the newest
// file has only in part come first.
func (w *World) sortStated() {
	w.stated.jobs.Sort(func(a, b *Job) int {
		return cmp.Or(cmp.Compare(a.statedAt(), b.statedAt()), cmp.Compare(a.Head, b.Head))
	})
	w.stated.stubs.Sort(func(a, b *Retired) int { return cmp.Compare(a.Head, b.Head) })
	w.stated.crons.Sort(func(a, b *CronJob) int { return cmp.Compare(a.Head, b.Head) })
}

// statedAt returns the Job's newest record; 0 if the newest file has only parts of its state.
func (j *Job) statedAt() events.Sequence {
	if j.division.open {
		return 0
	}
	return j.Head
}
