package checkpoint

import (
	"iter"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

const (
	// TurnBytes is the usual limit for the bytes of state that one turn of the loop adds.
	TurnBytes = 64 << 10
	// Pause is the time between two turns of the loop that add states.
	Pause = 20 * time.Millisecond
	// turnTime is the time after which one turn adds no further states.
	turnTime = 5 * time.Millisecond
)

// Files writes checkpoints into the log's newest file: the state of every Job and CronJob that has no record there.
// Then the file is self-contained: a log that begins with it needs neither an older file nor a snapshot. What remains
// to be written follows from the state, so a restart continues it. Example: 1,000 states of 1 KiB take 16 turns, 20 ms
// apart. A large Job is stored in parts (docs/design/0018).
type Files struct {
	world *projector.World
	bytes int                  // limit for the bytes of state that one turn adds
	clock func() time.Duration // how long the process has run; nil in simulated time

	file    events.Sequence        // first record of the file that the fields below are about; 0 at first
	last    events.Time            // time of the last turn that added states
	streams uint64                 // number of states that this process stored in the file
	stored  uint64                 // approximate size of their records, in bytes
	begun   map[events.Stream]bool // Jobs and CronJobs whose state this process has stored in part
}

// NewFiles returns a Files that reads world. One turn adds about `bytes` bytes of state, and stops after about 5 ms of
// clock, which returns how long the process has run. With a nil clock (simulated time) only bytes limits a turn.
func NewFiles(world *projector.World, bytes int, clock func() time.Duration) Files {
	return Files{world: world, bytes: bytes, clock: clock}
}

// Turn counts the bytes of state that one turn of the loop has added.
type Turn struct {
	bytes int
}

// Open reports whether the newest file of the log has begun and is not self-contained yet (readable without older
// files). next is the first record of that file, also if it is not written yet.
func (f *Files) Open(next events.Sequence) bool {
	newest, whole := f.world.Restated()
	return newest != whole && newest == next
}

// Due returns when the next turn must run to add states, even without inputs; 0 for never. next is the first record of
// the log's newest file, also if it is not written yet.
func (f *Files) Due(next events.Sequence) events.Time {
	if !f.Open(next) {
		return 0
	}
	if f.last == 0 { // this process has added no states yet: the first may be added now
		return f.world.Now
	}
	return f.last.Add(Pause)
}

// Shift moves the time of the last turn by a step of the wall clock.
func (f *Files) Shift(step time.Duration) { f.last = f.last.Add(step) }

// Waits reports whether a record of stream s (Job or CronJob) must wait for a later turn. It must if the state of s has
// to be stored before the record (stateDue) and does not fit into this turn, or if only part of the state is stored so
// far.
func (f *Files) Waits(t *Turn, s events.Stream, stateDue bool) bool {
	return stateDue && f.world.StateBytes(s) > f.bytes-t.bytes || f.world.Parted(s)
}

// Before returns the record (draft, without sequence and time) that stores the state of stream s (Job or CronJob), to
// be added before a record of s in this turn. If the state does not fit, it is a first part without pods, which names
// the Job; the rest follows in later turns. ok is false if there is nothing to store.
func (f *Files) Before(t *Turn, s events.Stream) (d projector.Draft, ok bool) {
	left := f.bytes - t.bytes
	if size := f.world.StateBytes(s); size <= left || !f.world.Divides(s) {
		d, ok = stateOf(f.world, s)
	} else {
		d, ok = f.part(s, 0)
	}
	if ok {
		t.bytes += sizeOf(&d)
	}
	return d, ok
}

// Drafts yields the records with states (drafts, without sequence and time) that a turn at time now adds before its
// inputs. A replay applies them at the same position. The caller applies each draft to the state before it takes the
// next. After the last state, a draft says that the file is self-contained (readable without older files). A turn with
// inputs reserves a quarter of its bytes for states of the Jobs that its inputs are about.
func (f *Files) Drafts(t *Turn, now events.Time, inputs bool) iter.Seq[projector.Draft] {
	return func(yield func(projector.Draft) bool) {
		f.begin()
		f.last = now
		share := f.bytes
		if inputs {
			share -= share / 4
		}
		began := f.elapsed()
		for t.bytes < share && f.elapsed()-began < turnTime {
			s, more := f.world.Unstated(f.file)
			if !more {
				yield(f.whole())
				return
			}
			d, ok := f.state(s, share-t.bytes, share)
			if !ok {
				return
			}
			size := sizeOf(&d)
			t.bytes += size
			if !yield(d) {
				return
			}
			f.stored += uint64(size)
			if !f.world.Parted(s) {
				f.streams++
			}
		}
	}
}

// begin resets the counters when a new file has begun.
func (f *Files) begin() {
	if first, _ := f.world.Restated(); f.file != first {
		f.file, f.last, f.streams, f.stored, f.begun = first, 0, 0, 0, map[events.Stream]bool{}
	}
}

// whole returns the record (draft, without sequence and time) that says that the newest file is self-contained:
// readable without older files.
func (f *Files) whole() projector.Draft {
	acts, quiet := f.world.RivalSoFar()
	return projector.Draft{Stream: events.Controller, Kind: events.KindFileRestated, Facts: &events.FileRestated{
		File: f.file, Streams: f.streams, Bytes: f.stored, RivalActs: acts, RivalQuiet: quiet,
	}}
}

// state returns the record with the state of a Job or CronJob, or with the next part of it if the state is larger than
// most, the limit of a turn. It returns false if the state must wait for the next turn. That is so if it does not fit
// into left, the rest of this turn, but fits into a whole turn, or if left is less than a quarter of a turn. A state
// that cannot be divided gets a turn of its own if needed.
func (f *Files) state(s events.Stream, left, most int) (d projector.Draft, ok bool) {
	size, whole := f.world.StateBytes(s), !f.world.Divides(s)
	if size > left && (size <= most || left < most/4 || whole && left < most) {
		return d, false
	}
	if (size <= left || whole) && !f.world.Parted(s) {
		d, ok = stateOf(f.world, s)
		if !ok || sizeOf(&d) > left && left < most {
			// The state does not fit into this turn: a later turn stores it. Only then is the file declared
			// self-contained
			return d, false
		}
		return d, true
	}
	return f.part(s, left)
}

// part returns the record with the next part of the state of s (Job or CronJob) that fits into left bytes.
func (f *Files) part(s events.Stream, left int) (d projector.Draft, ok bool) {
	f.begin()
	// Begin with the first part: another process, or a snapshot, may have stopped in the middle of the state
	if !f.begun[s] {
		f.world.Divide(s)
		f.begun[s] = true
	}
	besides := stateDraft(f.world, s, nil, nil)
	facts, names, last, ok := f.world.StatePart(s, left-sizeOf(&besides))
	if !ok {
		return d, false
	}
	if last {
		delete(f.begun, s)
	}
	return stateDraft(f.world, s, facts, names), true
}

// elapsed returns how long the process has run; 0 in simulated time.
func (f *Files) elapsed() time.Duration {
	if f.clock == nil {
		return 0
	}
	return f.clock()
}

// stateOf returns the record (draft, without sequence and time) with the state of a Job or CronJob; ok is false if it
// is unknown.
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

// sizeOf returns an upper bound for the size of the record that stores a state.
func sizeOf(d *projector.Draft) int {
	const header = 200
	e := &d.Evidence
	return header + len(d.Stream.ID) + len(d.Facts.(*events.StoredState).Encoded) + len(e.State) + len(e.Namespace) + len(e.Name)
}

// StatesBytes returns the total size of the states that a self-contained file of the log (readable without older files)
// begins with: one for each Job and CronJob that is unfinished or not deleted.
func StatesBytes(w *projector.World) (bytes int64) {
	for _, s := range w.Stating() {
		if d, ok := stateOf(w, s); ok {
			bytes += int64(sizeOf(&d))
		}
	}
	return bytes + int64(len(w.ControllerFacts()))
}
