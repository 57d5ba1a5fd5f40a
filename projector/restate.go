package projector

import (
	"cmp"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// statement is what the newest file of the log states again: a file stands alone once it has the state of every stream.
type statement struct {
	jobs     line[Job]       // holders of the subjects, by when they were stated
	stubs    line[Retired]   // retired Jobs, likewise
	crons    line[CronJob]   // likewise
	restated events.Sequence // the first record of the newest file that is known to stand alone; see Restated
	parts    Parts           // of streams of which no more is known; see Collecting
	passed   bool            // records of such a stream were passed over since the newest file began
}

func newStatement() statement {
	return statement{
		jobs:  newLine(func(j *Job) *links[Job] { return &j.stating }),
		stubs: newLine(func(r *Retired) *links[Retired] { return &r.place }),
		crons: newLine(func(c *CronJob) *links[CronJob] { return &c.stating }),
		parts: Parts{},
	}
}

func (s *statement) toWire(to *pb.WorldState) { to.Restated = uint64(s.restated) }

func (s *statement) fromWire(from *pb.WorldState) { s.restated = events.Sequence(from.GetRestated()) }

// Restated says with which record the newest file begins, and with which the newest of those that are known to stand
// alone (events.FileRestated). Each is 0 when there is none: a log of one file needs no statement.
func (w *World) Restated() (newest, whole events.Sequence) { return w.specs.since, w.stated.restated }

// Unstated is a stream that has no record at or after first, the sequence with which the newest file begins, or of
// whose state that file has parts and not the last one; ok is false when there is none.
func (w *World) Unstated(first events.Sequence) (s events.Stream, ok bool) {
	if j := w.stated.jobs.first; j != nil && (j.Head < first || j.division.open) {
		return j.Stream, true
	}
	if r := w.stated.stubs.first; r != nil && r.Head < first {
		return r.ID(), true
	}
	if c := w.stated.crons.first; c != nil && c.Head < first {
		return c.Stream, true
	}
	return events.Stream{}, false
}

// Stating are all streams that the world knows, like Streams, in the order in which they began or were last stated.
// That order is kept anyway, so 100,000 retired Jobs need no sorting.
func (w *World) Stating() []events.Stream {
	out := make([]events.Stream, 0, w.Len()+w.Stubs())
	for j := w.stated.jobs.first; j != nil; j = j.stating.after {
		out = append(out, j.Stream)
	}
	for r := w.stated.stubs.first; r != nil; r = r.place.after {
		out = append(out, r.ID())
	}
	for c := w.stated.crons.first; c != nil; c = c.stating.after {
		out = append(out, c.Stream)
	}
	return out
}

// StateBytes is about how many bytes the state of a stream takes; it does not encode the state.
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

// stateAgain makes the record of a stream's state its newest record. A state says nothing new, so nothing else changes;
// but a subject of which nothing is left was kept until its state was stored.
func (w *World) stateAgain(rec *events.Record, f *events.StoredState) {
	if r := w.Retired(rec.Stream); r != nil {
		r.Head = rec.Sequence
		w.stated.stubs.toEnd(r)
		return
	}
	subject := w.subjects[rec.Stream]
	if subject == nil {
		return
	}
	if c, ok := subject.(*CronJob); ok {
		c.Head = rec.Sequence
		w.stated.crons.toEnd(c)
		return
	}
	j := HolderOf(subject)
	j.Head = rec.Sequence
	part, last := partOf(f.Encoded)
	parted := j.division.open
	if j.division.open = part != 0 && !last; j.division.open {
		return
	}
	w.stated.jobs.toEnd(j)
	if parted {
		w.close(subject)
	}
}

// unpart begins a new file, which has no parts of any state. What retires is stated in the order in which it began.
func (w *World) unpart() {
	for _, s := range w.Subjects() {
		if j := HolderOf(s); j != nil && j.division.open {
			j.division.open = false
			w.close(s)
		}
	}
}

// sortStated puts the subjects in the order of their newest records: a snapshot gives them in another. First come those
// whose state the newest file has in part.
func (w *World) sortStated() {
	w.stated.jobs.sort(func(a, b *Job) int {
		return cmp.Or(cmp.Compare(a.statedAt(), b.statedAt()), cmp.Compare(a.Head, b.Head))
	})
	w.stated.stubs.sort(func(a, b *Retired) int { return cmp.Compare(a.Head, b.Head) })
	w.stated.crons.sort(func(a, b *CronJob) int { return cmp.Compare(a.Head, b.Head) })
}

// statedAt is the Job's newest record; 0 when the newest file has parts of its state alone.
func (j *Job) statedAt() events.Sequence {
	if j.division.open {
		return 0
	}
	return j.Head
}
