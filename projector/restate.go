package projector

import (
	"cmp"

	"github.com/jobledger/jobledger/events"
)

// Restated says with which record the newest file begins, and with which the newest of those that are known to stand alone
// (events.FileRestated). Each is 0 when there is none: a log of one file needs no statement.
func (w *World) Restated() (newest, whole events.Sequence) { return w.specs.since, w.restated }

// Unstated is a stream that has no record at or after first, the sequence with which the newest file begins; ok is false when there is none.
func (w *World) Unstated(first events.Sequence) (s events.Stream, ok bool) {
	if j := w.stating.first; j != nil && j.Head < first {
		return j.Stream, true
	}
	if r := w.stubs.first; r != nil && r.Head < first {
		return r.ID(), true
	}
	return events.Stream{}, false
}

// Stating are all streams that the world knows, like Streams, in the order in which they began or were last stated. That order is kept
// anyway, so 100,000 retired Jobs need no sorting.
func (w *World) Stating() []events.Stream {
	out := make([]events.Stream, 0, w.Len()+w.Stubs())
	for j := w.stating.first; j != nil; j = j.stating.after {
		out = append(out, j.Stream)
	}
	for r := w.stubs.first; r != nil; r = r.place.after {
		out = append(out, r.ID())
	}
	return out
}

// StateBytes is about how many bytes the state of a stream takes; it does not encode the state.
func (w *World) StateBytes(s events.Stream) int {
	const stub, job, pod = 60, 400, 110
	if subject := w.subjects[s]; subject != nil {
		return job + pod*subject.holder().PodCount()
	}
	return stub
}

// stated makes the record of a stream's state its newest record. A state says nothing new, so nothing else changes.
func (w *World) stated(s events.Stream, at events.Sequence) {
	if r := w.Retired(s); r != nil {
		r.Head = at
		w.stubs.toEnd(r)
	} else if subject := w.subjects[s]; subject != nil {
		j := subject.holder()
		j.Head = at
		w.stating.toEnd(j)
	}
}

// sortStated puts the subjects in the order of their newest records: a snapshot gives them in another.
func (w *World) sortStated() {
	w.stating.sort(func(a, b *Job) int { return cmp.Compare(a.Head, b.Head) })
	w.stubs.sort(func(a, b *Retired) int { return cmp.Compare(a.Head, b.Head) })
}
