package loop

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// saver makes a snapshot in small steps: each turn encodes a few streams, so that no turn is long.
type saver struct {
	saved   events.Sequence // last record of the newest snapshot
	todo    []events.Stream
	part    store.StreamSnapshot // encoded so far of a stream that is encoded in parts
	parted  projector.Subject    // subject of that stream; nil for none
	done    []store.StreamSnapshot
	through events.Sequence // last record of a finished snapshot that waits for durability; 0 for none
	active  bool
	// outdated says that the newest snapshot is from an earlier epoch, and useless.
	outdated bool
}

// snapshotStep begins a snapshot when it is due, or continues one.
func (l *Loop) snapshotStep() {
	s := &l.saver
	due := l.next-s.saved > l.snapshotEvery || (s.outdated && !l.world.Listing)
	if l.restating() {
		return // checkpoint a new file first: both use the pods' division
	}
	if !s.active && s.through == 0 && due {
		l.beginSnapshot()
	}
	for n := 0; s.active && n < l.snapshotBatch; n++ {
		if l.encodePart() {
			return
		}
		l.encode(1)
	}
}

// encodePart continues with the next stream if its state is too large for one turn, or has been begun.
func (l *Loop) encodePart() bool {
	s := &l.saver
	if len(s.todo) == 0 || s.parted == nil && l.world.StateBytes(s.todo[0]) <= restateBytes {
		return false
	}
	stream := s.todo[0]
	if subject := l.world.Subject(stream); s.parted != subject { // the stream may have ended, and begun again
		l.world.Divide(stream)
		s.parted, s.part = subject, store.StreamSnapshot{Stream: stream}
	}
	facts, names, last, ok := l.world.StatePart(stream, restateBytes)
	if !ok {
		s.parted = nil
		return false
	}
	s.part.State, s.part.Names = append(s.part.State, facts...), append(s.part.Names, names...)
	if last {
		s.part.AsOf = l.next - 1
		s.done, s.todo, s.parted = append(s.done, s.part), s.todo[1:], nil
		l.encode(0)
	}
	return true
}

// Snapshot encodes everything at once, for an orderly stop.
func (l *Loop) Snapshot() {
	l.beginSnapshot()
	l.encode(len(l.saver.todo))
}

func (l *Loop) beginSnapshot() {
	l.saver = saver{saved: l.saver.saved, todo: l.world.Stating(), active: true, outdated: l.saver.outdated}
}

// giveUp drops the snapshot in progress when a new file of the log begins; another begins at once. The controller's
// state is encoded last, and would lack the specs that only the previous file stores and no Job uses. But a record
// after the first stream's state may refer to one.
func (s *saver) giveUp() {
	if s.active {
		*s = saver{saved: s.saved, outdated: s.outdated}
	}
}

func (l *Loop) encode(n int) {
	s := &l.saver
	n = min(n, len(s.todo))
	for _, stream := range s.todo[:n] {
		facts, names, _ := l.world.StreamState(stream) // a stream that has ended is stored as empty
		s.done = append(s.done, store.StreamSnapshot{Stream: stream, AsOf: l.next - 1, State: facts, Names: names})
	}
	s.todo = s.todo[n:]
	if len(s.todo) > 0 {
		return
	}
	s.done = append(s.done, store.StreamSnapshot{Stream: events.Controller, AsOf: l.next - 1, State: l.world.ControllerState()})
	s.active, s.through = false, l.next-1
}

// TakeSnapshot returns a finished snapshot once all records that it covers are durable; ok is false otherwise.
func (l *Loop) TakeSnapshot() (snapshot store.Snapshot, ok bool) {
	s := &l.saver
	head := l.log.Head()
	if s.through == 0 || head.Sequence < s.through {
		return store.Snapshot{}, false
	}
	snapshot = store.Snapshot{Identity: l.log.Identity(), Head: head, Streams: s.done}
	l.saver = saver{saved: s.through}
	return snapshot, true
}
