package projector

import (
	"cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/line"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// statement tracks which streams have a StateStored record ("checkpoint": the whole state of one Job, CronJob or
// namespace) in the newest file of the log. A file is self-contained once it has one for every stream: older files can
// then be deleted. Each list is ordered by the last checkpoint.
type statement struct {
	jobs     line.Line[Job]     // Jobs, and the pods without an owner of each namespace
	stubs    line.Line[Retired] // retired Jobs
	crons    line.Line[CronJob] // CronJobs
	restated events.Sequence    // first record of the newest self-contained file (Restated)
	parts    Parts              // parts of states, until the last part of each has come (Collecting)
	passed   bool               // since the newest file began, records were skipped because a state lacks parts
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

// Restated returns the first record of the newest file (newest), and the first record of the newest file known to have
// the state of every stream (whole; set by the record events.FileRestated). Each is 0 if there is none: a log of one
// file needs no stored states.
func (w *World) Restated() (newest, whole events.Sequence) { return w.specs.Since(), w.stated.restated }

// Unstated returns a Job, CronJob or namespace whose state is still to be stored in the newest file, which begins with
// record first: no record in that file is about it, or the last part of its state is missing. ok is false if there is
// none.
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

// Stating returns the same Jobs, CronJobs and namespaces as Streams, ordered by when they began or when their state was
// last stored in a StateStored record. It does not sort: the order is maintained anyway, because there may be 100,000
// finished Jobs.
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

// StateBytes estimates the encoded size in bytes of the state of a Job, CronJob or namespace, without encoding it.
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

// stateAgain handles a StateStored record of a state that is known already: the record becomes the newest one of that
// Job, CronJob or namespace. A Job without work that was kept only until its state was completely stored is dropped.
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

// unpart handles the beginning of a new file, which has no parts of any state yet. Jobs without work that were kept
// only because their state was stored in parts are dropped or retired, in the order in which they began.
func (w *World) unpart() {
	for _, s := range w.Subjects() {
		if j := HolderOf(s); j != nil && j.division.open {
			j.division.open = false
			w.close(s)
		}
	}
}

// sortStated orders the lists by the newest record of each Job and CronJob, because a snapshot has another order. Jobs
// that have only parts of their state in the newest file come first.
func (w *World) sortStated() {
	w.stated.jobs.Sort(func(a, b *Job) int {
		return cmp.Or(cmp.Compare(a.statedAt(), b.statedAt()), cmp.Compare(a.Head, b.Head))
	})
	w.stated.stubs.Sort(func(a, b *Retired) int { return cmp.Compare(a.Head, b.Head) })
	w.stated.crons.Sort(func(a, b *CronJob) int { return cmp.Compare(a.Head, b.Head) })
}

// statedAt returns the sort key of the Job in its list: its newest record, or 0 if the newest file has only parts of
// its state.
func (j *Job) statedAt() events.Sequence {
	if j.division.open {
		return 0
	}
	return j.Head
}
