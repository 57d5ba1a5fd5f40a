package loop

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

const (
	restateBytes = 64 << 10              // of states that one turn adds at most; a larger state is added alone
	restatePause = 20 * time.Millisecond // from one turn that adds states to the next
)

// restater states again, in the newest file, all that is known and has no record in it. Then the file stands alone: a log that begins
// with it needs neither an older file nor a snapshot. What is left to state is seen from the world, so a restart goes on.
type restater struct {
	file    events.Sequence // that the counts are of; 0 before the first
	last    events.Time     // of the last turn that added states
	streams uint64          // stated by this process
	bytes   uint64          // of their records, about
}

// restating reports whether the newest file has begun and does not stand alone yet.
func (l *Loop) restating() bool {
	newest, whole := l.world.Restated()
	return newest != whole && newest == l.log.NextFile()
}

// restate adds a share of the states to a turn. After the last of them it adds the record that says so.
func (l *Loop) restate(b *batch) {
	if !l.restating() || b.time < l.restateDue() {
		return
	}
	r := &l.restater
	first, _ := l.world.Restated()
	if r.file != first {
		*r = restater{file: first}
	}
	r.last = b.time
	for left := l.restateBytes; left > 0; {
		s, more := l.world.Unstated(first)
		if !more {
			l.append(b, controllerDraft(events.KindFileRestated, &events.FileRestated{File: first, Streams: r.streams, Bytes: r.bytes}))
			return
		}
		if left < l.restateBytes && l.world.StateBytes(s) > left {
			return // before it is encoded
		}
		d, ok := stateOf(l.world, s)
		if !ok {
			return // cannot be: the world knows the stream. A file that may lack a state is not said to stand alone
		}
		n := most(&d)
		if n > left && left < l.restateBytes {
			return
		}
		l.append(b, d)
		left -= n
		r.bytes += uint64(events.Weight(&b.records[len(b.records)-1]))
		r.streams++
	}
}

// stateOf is a draft of a stream's state; ok is false when nothing is known of the stream.
func stateOf(w *projector.World, s events.Stream) (d projector.Draft, ok bool) {
	facts, names, ok := w.StreamState(s)
	if !ok {
		return d, false
	}
	ref := w.RefOf(s)
	return projector.Draft{
		Stream: s, Kind: events.KindStateStored, Facts: &events.StoredState{Encoded: facts},
		Evidence: events.Evidence{Namespace: ref.Namespace, Name: ref.Name, State: names},
	}, true
}

// most is how many bytes the record of a state has at most in stored form.
func most(d *projector.Draft) int {
	const besides = 200 // header, salts, and the lengths of all parts
	e := &d.Evidence
	return besides + len(d.Stream.ID) + len(d.Facts.(*events.StoredState).Encoded) + len(e.State) + len(e.Namespace) + len(e.Name)
}

// restateDue is when a turn goes on with the states though nothing comes in; 0 for never.
func (l *Loop) restateDue() events.Time {
	if !l.restating() {
		return 0
	}
	if l.restater.last == 0 { // a process that has stated nothing yet
		return l.world.Now
	}
	return l.restater.last.Add(restatePause)
}
