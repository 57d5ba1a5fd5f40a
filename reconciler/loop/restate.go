package loop

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

const (
	restateBytes = 64 << 10              // of states that one turn adds at most
	restateTime  = 5 * time.Millisecond  // for which one turn works on states at most, about
	restatePause = 20 * time.Millisecond // from one turn that adds states to the next
)

// restater states again, in the newest file, all that is known and has no record in it. Then the file stands alone: a
// log that begins with it needs neither an older file nor a snapshot. What is left to state is seen from the world, so
// a restart goes on. The state of a large Job is stored in parts (docs/design/0018).
type restater struct {
	file    events.Sequence        // that the counts are of; 0 before the first
	last    events.Time            // of the last turn that added states
	streams uint64                 // stated by this process
	bytes   uint64                 // of their records, about
	begun   map[events.Stream]bool // streams of whose states this process has stored parts, and not the last one
}

// restating reports whether the newest file has begun and does not stand alone yet.
func (l *Loop) restating() bool {
	newest, whole := l.world.Restated()
	return newest != whole && newest == l.log.NextFile()
}

// restate adds a share of the states to a turn, before its inputs: a replay, too, has folded all before it and nothing
// else then. After the last of them it adds the record that says so. A turn with inputs leaves a quarter of its bytes
// for the states of the streams that these touch.
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

// restaterOf is the restater of the newest file.
func (l *Loop) restaterOf() *restater {
	if first, _ := l.world.Restated(); l.restater.file != first {
		l.restater = restater{file: first, begun: map[events.Stream]bool{}}
	}
	return &l.restater
}

// state stores the state of a stream, or the next part of it when it is larger than what a turn may add. With less left
// it does nothing if the state, or what may be the last part of it, fits into a turn of its own. What cannot be divided
// has a turn of its own if need be.
func (l *Loop) state(b *batch, s events.Stream, left, most int) bool {
	size, whole := l.world.StateBytes(s), !l.world.Divides(s)
	if size > left && (size <= most || left < most/4 || whole && left < most) {
		return false
	}
	if (size <= left || whole) && !l.world.Parted(s) {
		d, ok := stateOf(l.world, s)
		if !ok || stored(&d) > left && left < most {
			return false // before it is known that the file has the state, it is not said to stand alone
		}
		l.appendState(b, d)
		return true
	}
	return l.statePart(b, s, left)
}

// statePart stores the next part of a stream's state.
func (l *Loop) statePart(b *batch, s events.Stream, left int) bool {
	r := l.restaterOf()
	if !r.begun[s] { // another process may have begun, or a snapshot
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

// preface stores the state of a stream that has a record in this turn, before that record. What the turn has no room
// for follows in later turns: here is a part without pods, which names the Job.
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

// stateOf is a draft of a stream's state; ok is false when nothing is known of the stream.
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

// stored is how many bytes the record of a state has at most in stored form.
func stored(d *projector.Draft) int {
	const header = 200
	e := &d.Evidence
	return header + len(d.Stream.ID) + len(d.Facts.(*events.StoredState).Encoded) + len(e.State) + len(e.Namespace) + len(e.Name)
}

// elapsed is how long the process has run; 0 where time is made up.
func (l *Loop) elapsed() time.Duration {
	if l.clock == nil {
		return 0
	}
	return l.clock()
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
