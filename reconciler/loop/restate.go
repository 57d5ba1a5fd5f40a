package loop

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

const (
	restateBytes = 64 << 10              // limit of state bytes that one turn adds
	restateTime  = 5 * time.Millisecond  // approximate limit of one turn's work on states
	restatePause = 20 * time.Millisecond // pause between two turns that add states
)

// restater checkpoints, in the newest file, every subject without a record there. Then the file is self-contained: a
// log that begins with it needs neither an older file nor a snapshot. What is left follows from the world, so a
// restart continues. Example: 1,000 states of 1 KiB take 16 turns, 20 ms apart. A large Job is stored in parts
// (docs/design/0018).
type restater struct {
	file    events.Sequence        // file of the counters; 0 before the first
	last    events.Time            // time of the last turn that added states
	streams uint64                 // stored by this process
	bytes   uint64                 // approximate size of their records
	begun   map[events.Stream]bool // streams of which this process has stored parts, but not the last
}

// restating reports whether the newest file has begun and is not self-contained yet.
func (l *Loop) restating() bool {
	newest, whole := l.world.Restated()
	return newest != whole && newest == l.log.NextFile()
}

// restate adds states to a turn, before its inputs, so that a replay has folded the same records at that point. After
// the last state it records that the file is self-contained. A turn with inputs reserves a quarter of its bytes for
// the states of the streams that these touch.
func (l *Loop) restate(b *batch, inputs bool) {
	if !l.restating() || b.time < l.restateDue() {
		return
	}
	r := l.restaterOf()
	r.last = b.time
	share := l.restateBytes
	if inputs {
		share -= share / 4
	}
	began := l.elapsed()
	for b.states < share && l.elapsed()-began < restateTime {
		s, more := l.world.Unstated(r.file)
		if !more {
			acts, quiet := l.world.RivalSoFar()
			l.append(b, controllerDraft(events.KindFileRestated, &events.FileRestated{
				File: r.file, Streams: r.streams, Bytes: r.bytes, RivalActs: acts, RivalQuiet: quiet,
			}))
			return
		}
		before := b.states
		if !l.state(b, s, share-b.states, share) {
			return
		}
		r.bytes += uint64(b.states - before)
		if !l.world.Parted(s) {
			r.streams++
		}
	}
}

// restaterOf returns the restater of the newest file.
func (l *Loop) restaterOf() *restater {
	if first, _ := l.world.Restated(); l.restater.file != first {
		l.restater = restater{file: first, begun: map[events.Stream]bool{}}
	}
	return &l.restater
}

// state stores a stream's state, or its next part if it is larger than a turn's limit. If left is too small, but the
// state, or its possible last part, fits into a turn of its own, it stores nothing and returns false. A state that
// cannot be divided gets its own turn if needed.
func (l *Loop) state(b *batch, s events.Stream, left, most int) bool {
	size, whole := l.world.StateBytes(s), !l.world.Divides(s)
	if size > left && (size <= most || left < most/4 || whole && left < most) {
		return false
	}
	if (size <= left || whole) && !l.world.Parted(s) {
		d, ok := stateOf(l.world, s)
		if !ok || stored(&d) > left && left < most {
			return false // the file counts as self-contained only after the state is known to be in it
		}
		l.appendState(b, d)
		return true
	}
	return l.statePart(b, s, left)
}

// statePart stores the next part of a stream's state.
func (l *Loop) statePart(b *batch, s events.Stream, left int) bool {
	r := l.restaterOf()
	if !r.begun[s] { // another process, or a snapshot, may have begun
		l.world.Divide(s)
		r.begun[s] = true
	}
	besides := stateDraft(l.world, s, nil, nil)
	facts, names, last, ok := l.world.StatePart(s, left-stored(&besides))
	if !ok {
		return false
	}
	if last {
		delete(r.begun, s)
	}
	l.appendState(b, stateDraft(l.world, s, facts, names))
	return true
}

// preface stores the state of a stream before its record in this turn. If there is no room, it stores a part without
// pods that names the Job; the rest follows in later turns.
func (l *Loop) preface(b *batch, s events.Stream) {
	left := l.restateBytes - b.states
	if size := l.world.StateBytes(s); size <= left || !l.world.Divides(s) {
		if d, ok := stateOf(l.world, s); ok {
			l.appendState(b, d)
		}
		return
	}
	l.statePart(b, s, 0)
}

func (l *Loop) appendState(b *batch, d projector.Draft) {
	b.states += stored(&d)
	l.append(b, d)
}

// stateOf returns a draft of a stream's state; ok is false if the stream is unknown.
func stateOf(w *projector.World, s events.Stream) (d projector.Draft, ok bool) {
	facts, names, ok := w.StreamState(s)
	if !ok {
		return d, false
	}
	return stateDraft(w, s, facts, names), true
}

func stateDraft(w *projector.World, s events.Stream, facts, names []byte) projector.Draft {
	ref := w.RefOf(s)
	return projector.Draft{
		Stream: s, Kind: events.KindStateStored, Facts: &events.StoredState{Encoded: facts},
		Evidence: events.Evidence{Namespace: ref.Namespace, Name: ref.Name, State: names},
	}
}

// stored returns an upper bound for the stored size of a state's record.
func stored(d *projector.Draft) int {
	const header = 200
	e := &d.Evidence
	return header + len(d.Stream.ID) + len(d.Facts.(*events.StoredState).Encoded) + len(e.State) + len(e.Namespace) + len(e.Name)
}

// elapsed returns how long the process has run; 0 in simulated time.
func (l *Loop) elapsed() time.Duration {
	if l.clock == nil {
		return 0
	}
	return l.clock()
}

// restateDue returns when the next turn adds states without inputs; 0 for never.
func (l *Loop) restateDue() events.Time {
	if !l.restating() {
		return 0
	}
	if l.restater.last == 0 { // this process has not stored any yet
		return l.world.Now
	}
	return l.restater.last.Add(restatePause)
}
