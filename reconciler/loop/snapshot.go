package loop

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// saver makes a snapshot beside the turns: each encodes a few streams, so that no turn is long.
type saver struct {
	saved   events.Sequence // the last record of the newest snapshot
	todo    []events.Stream
	part    store.StreamSnapshot // what there is of the state of the stream that is encoded in parts
	parted  projector.Subject    // that stream's subject; nil when none is
	done    []store.StreamSnapshot
	through events.Sequence // of a finished snapshot, which waits to be durable; 0 for none
	active  bool
	// outdated: the newest snapshot is of the epoch before, and so of no use any more.
	outdated bool
}

// snapshotStep begins a snapshot when one is due, and goes on with one that has begun.
func (l *Loop) snapshotStep() {
	s := &l.saver
	due := l.next-s.saved > l.snapshotEvery || (s.outdated && !l.world.Listing)
	if l.restating() {
		return // a new file is stated first: both use the lines of pods that are to be told
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

// encodePart goes on with the next stream's state if that is too large for a turn, or has been begun.
func (l *Loop) encodePart() bool {
	s := &l.saver
	if len(s.todo) == 0 || s.parted == nil && l.world.StateBytes(s.todo[0]) <= restateBytes {
		return false
	}
	stream := s.todo[0]
	if subject := l.world.Subject(stream); s.parted != subject { // it may have ended meanwhile, and be another one now
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

// Snapshot encodes everything at once, for a stop in good order.
func (l *Loop) Snapshot() {
	l.beginSnapshot()
	l.encode(len(l.saver.todo))
}

func (l *Loop) beginSnapshot() {
	l.saver = saver{saved: l.saver.saved, todo: l.world.Stating(), active: true, outdated: l.saver.outdated}
}

// giveUp drops a snapshot that is being made when a new file of the log begins; another begins at once. The
// controller's state comes last, and no longer has the specs that only the file before stores and that no Job has. A
// record that follows the first stream's state may refer to one.
func (s *saver) giveUp() {
	if s.active {
		*s = saver{saved: s.saved, outdated: s.outdated}
	}
}

func (l *Loop) encode(n int) {
	s := &l.saver
	n = min(n, len(s.todo))
	for _, stream := range s.todo[:n] {
		facts, names, _ := l.world.StreamState(stream) // a stream that ended meanwhile is noted as empty
		s.done = append(s.done, store.StreamSnapshot{Stream: stream, AsOf: l.next - 1, State: facts, Names: names})
	}
	s.todo = s.todo[n:]
	if len(s.todo) > 0 {
		return
	}
	s.done = append(s.done, store.StreamSnapshot{Stream: events.Controller, AsOf: l.next - 1, State: l.world.ControllerState()})
	s.active, s.through = false, l.next-1
}

// TakeSnapshot returns a finished snapshot once all that it covers is durable; ok is false while there is none.
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
