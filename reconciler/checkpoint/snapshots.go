package checkpoint

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// Snapshots makes snapshots (stored copies of the state of all Jobs and CronJobs) in small steps: each turn encodes a
// few of them, so that no turn is long.
type Snapshots struct {
	world *projector.World
	every events.Sequence // records between two snapshots
	step  int             // number of Jobs and CronJobs that one turn encodes

	saved   events.Sequence // last record of the newest snapshot
	todo    []events.Stream
	part    store.StreamSnapshot // the part encoded so far of a state that takes several turns
	parted  projector.Subject    // Job or CronJob whose state is in part; nil for none
	done    []store.StreamSnapshot
	through events.Sequence // last record that the finished snapshot includes, until Take returns it; 0 for none
	active  bool
	// outdated says that the newest stored snapshot is useless, because it is from an earlier epoch (life of the log).
	outdated bool
}

// NewSnapshots returns a Snapshots that reads world. saved is the last record that the newest stored snapshot covers.
// The next snapshot is due after `every` further records; one turn encodes the states of step Jobs and CronJobs.
func NewSnapshots(world *projector.World, saved, every events.Sequence, step int) Snapshots {
	return Snapshots{world: world, saved: saved, every: every, step: step}
}

// fresh returns a Snapshots with the same settings, and without a snapshot in progress.
func (s *Snapshots) fresh() Snapshots { return NewSnapshots(s.world, s.saved, s.every, s.step) }

// Step begins a snapshot when one is due, or continues it. head is the newest record that is in the state.
func (s *Snapshots) Step(head events.Sequence) {
	due := head+1-s.saved > s.every || (s.outdated && !s.world.Listing)
	if !s.active && s.through == 0 && due {
		s.begin()
	}
	for n := 0; s.active && n < s.step; n++ {
		if s.encodePart(head) {
			return
		}
		s.encode(1, head)
	}
}

// All encodes a whole snapshot at once, for an orderly stop. head is the newest record that is in the state.
func (s *Snapshots) All(head events.Sequence) {
	s.begin()
	s.encode(len(s.todo), head)
}

func (s *Snapshots) begin() {
	outdated := s.outdated
	*s = s.fresh()
	s.todo, s.active, s.outdated = s.world.Stating(), true, outdated
}

// encodePart encodes the next part of the next Job's or CronJob's state, if this state is too large for one turn. It
// reports whether it did.
func (s *Snapshots) encodePart(head events.Sequence) bool {
	if len(s.todo) == 0 || s.parted == nil && s.world.StateBytes(s.todo[0]) <= TurnBytes {
		return false
	}
	stream := s.todo[0]
	// If no part of this state is encoded yet, or the subject has ended and a new one has begun, start with the first
	// part
	if subject := s.world.Subject(stream); s.parted != subject {
		s.world.Divide(stream)
		s.parted, s.part = subject, store.StreamSnapshot{Stream: stream}
	}
	facts, names, last, ok := s.world.StatePart(stream, TurnBytes)
	if !ok {
		s.parted = nil
		return false
	}
	s.part.State, s.part.Names = append(s.part.State, facts...), append(s.part.Names, names...)
	if last {
		s.part.AsOf = head
		s.done, s.todo, s.parted = append(s.done, s.part), s.todo[1:], nil
		s.encode(0, head)
	}
	return true
}

func (s *Snapshots) encode(n int, head events.Sequence) {
	n = min(n, len(s.todo))
	for _, stream := range s.todo[:n] {
		facts, names, _ := s.world.StreamState(stream) // if the stream has ended meanwhile, it is stored as empty
		s.done = append(s.done, store.StreamSnapshot{Stream: stream, AsOf: head, State: facts, Names: names})
	}
	s.todo = s.todo[n:]
	if len(s.todo) > 0 {
		return
	}
	s.done = append(s.done, store.StreamSnapshot{Stream: events.Controller, AsOf: head, State: s.world.ControllerState()})
	s.active, s.through = false, head
}

// GiveUp drops the snapshot in progress when a new file of the log begins; another one begins at once. The reason: a
// snapshot encodes the controller's state last. By then that state lacks specs that only the previous file stores and
// no Job uses any more. But records that follow the first encoded state may still refer to them.
func (s *Snapshots) GiveUp() {
	if s.active {
		outdated := s.outdated
		*s = s.fresh()
		s.outdated = outdated
	}
}

// Outdate drops the snapshot in progress, and marks the newest stored one as useless, because a new epoch (life of the
// log) begins.
func (s *Snapshots) Outdate() {
	*s = s.fresh()
	s.outdated = true
}

// Take returns a finished snapshot once all records that it covers are durable; ok is false before.
func (s *Snapshots) Take(durable events.Sequence) (streams []store.StreamSnapshot, ok bool) {
	if s.through == 0 || durable < s.through {
		return nil, false
	}
	streams = s.done
	through := s.through
	*s = s.fresh()
	s.saved = through
	return streams, true
}
