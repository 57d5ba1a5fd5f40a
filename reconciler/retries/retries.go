package retries

import (
	"cmp"
	"math/bits"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/due"
	"github.com/jobledger/jobledger/reconciler/tasks"
)

// noteAgain is how often a continuing refusal is recorded again. A Kubernetes Event lives for an hour, and a reader
// should find one.
const noteAgain = 30 * time.Minute

// noAnswer is when the executor is told again about a cancelled command.
const noAnswer = 10 * time.Second

// Retries holds the commands in backoff and their next tries. It is derived from the log, so nothing is lost with it.
type Retries struct {
	world *projector.World
	asks  due.Queue[events.CommandID]
	known map[events.CommandID]*stood
	lines map[string]*line // creates, by namespace
	// probes holds when each namespace with creates in backoff is probed next (probeEvery).
	probes due.Queue[string]
	// alive is the latest time at which the previous process is known to have run.
	alive events.Time
	ready []events.Task // to send now
	back  []events.Task // to withdraw

	refused map[RefusedKind]int
	changed bool // refused has changed since it was last read
}

// stood is a command in backoff.
type stood struct {
	stream events.Stream
	until  events.Time // Retry.Until as scheduled in asks
	asked  events.Time // time of the newest try
	out    bool        // a try is with the executor, or its result is queued
	eager  int         // early tries left
	wish   events.Time // the API server asked for no try before
	why    RefusedKind
}

// New returns the state without commands. It reads world, and never changes it. alive is the latest time at which the
// previous process is known to have run.
func New(world *projector.World, alive events.Time) *Retries {
	return &Retries{
		world: world,
		asks: due.New(func(a, b events.CommandID) int {
			return cmp.Or(cmp.Compare(a.Decided, b.Decided), cmp.Compare(a.Place, b.Place))
		}),
		known: map[events.CommandID]*stood{}, lines: map[string]*line{}, refused: map[RefusedKind]int{},
		probes: due.New(cmp.Compare[string]), alive: alive,
	}
}

// Again returns the state after a rewind of the cluster at time now: no command is left.
func (s *Retries) Again(now events.Time) *Retries {
	fresh := New(s.world, now)
	fresh.changed = true
	return fresh
}

// Wake returns when the next command, or the next probe, is due; 0 for never.
func (s *Retries) Wake() events.Time {
	first := s.asks.First()
	if probe := s.probes.First(); first == 0 || probe != 0 && probe < first {
		return probe
	}
	return first
}

// Answered notes that the executor has reported a try of the command.
func (s *Retries) Answered(name events.CommandID) {
	if k := s.known[name]; k != nil {
		k.out = false
	}
}

// Withdrawn notes that the executor was asked to take the command back. A command that is not in backoff has one try,
// whose outcome is reported; another one is asked for again.
func (s *Retries) Withdrawn(name events.CommandID, now events.Time) {
	if s.known[name] != nil {
		s.asks.Set(name, now.Add(noAnswer))
	}
}

// Forget drops a command.
func (s *Retries) Forget(name events.CommandID) {
	s.asks.Set(name, 0)
	s.count(name, RefusedKind{})
	delete(s.known, name)
}

// Shift moves the times by a clock step.
func (s *Retries) Shift(step time.Duration) {
	s.asks.Shift(step)
	s.probes.Shift(step)
	s.ShiftAlive(step)
	for _, k := range s.known {
		k.until, k.asked, k.wish = k.until.Add(step), k.asked.Add(step), k.wish.Add(step)
	}
}

// ShiftAlive moves the time at which the previous process ran, by a clock step.
func (s *Retries) ShiftAlive(step time.Duration) { s.alive = s.alive.Add(step) }

// Follow updates the schedule of a command after records of its subject.
func (s *Retries) Follow(subject projector.Subject, name events.CommandID, now events.Time) {
	j := projector.HolderOf(subject)
	if j == nil {
		s.Forget(name)
		return
	}
	f, retry := j.Retrying(name)
	if f == nil {
		if !j.GaveUp(name) {
			s.Forget(name)
		}
		return
	}
	k := s.known[name]
	if k == nil {
		k = &stood{stream: subject.ID(), asked: now}
		if retry.Class == events.RefusedTooManyRequests { // the wait that it asked for may not be in the log
			k.wish, _ = retry.Next(&s.world.Settings, now-1)
		}
		s.known[name] = k
		if tasks.IsCreate(f.Command) {
			s.enqueue(subject.Reference().Namespace, name, now)
		}
	}
	s.count(name, RefusedKind{f.Command.Traits().Name, retry.Class})
	if k.until != retry.Until {
		k.until = retry.Until
		at, _ := retry.Next(&s.world.Settings, s.alive) // a try that came due while no controller ran is made now
		if due := s.asks.At(name); k.eager > 0 && due != 0 {
			at = min(at, due)
		}
		s.asks.Set(name, at)
	}
}

// count updates the counters by reason; the zero kind means that the command left the backoff.
func (s *Retries) count(name events.CommandID, why RefusedKind) {
	k := s.known[name]
	if k == nil || k.why == why {
		return
	}
	if k.why != (RefusedKind{}) {
		s.refused[k.why]--
	}
	if why != (RefusedKind{}) {
		s.refused[why]++
	}
	k.why, s.changed = why, true
}

// RefusedKind groups commands in backoff.
type RefusedKind struct {
	Command string              // kind: CreatePod, DeletePod, DropFinalizer
	Class   events.RefusalClass // 0 if the outcome of the newest try is unknown
}

// Refused returns the number of commands in backoff by kind, and whether it has changed since the last call. The map
// is valid until the next turn.
func (s *Retries) Refused() (counts map[RefusedKind]int, changed bool) {
	changed, s.changed = s.changed, false
	return s.refused, changed
}

// FollowAll calls Follow for every command that a record of the subject may concern.
func (s *Retries) FollowAll(subject projector.Subject, now events.Time) {
	if j := projector.HolderOf(subject); j != nil {
		for _, name := range j.AllRetrying() {
			s.Follow(subject, name, now)
		}
	}
}

// FollowCreate calls Follow for the create that is retried on behalf of all: pods created by others change its
// schedule.
func (s *Retries) FollowCreate(subject projector.Subject, now events.Time) {
	j, ok := subject.(*projector.Job)
	if !ok {
		return
	}
	if c := j.RetryingCreate(); c != nil {
		s.Follow(j, c.Flight().Name(), now)
	}
}

// Stands returns the command called name and its backoff, if it is in backoff and still wanted; else nil. Commands
// about a CronJob or a retired Job are never retried unchanged.
func Stands(s projector.Subject, name events.CommandID) (*commands.Flight, *commands.Retry) {
	if j := projector.HolderOf(s); j != nil {
		return j.Retrying(name)
	}
	return nil, nil
}

// Repeated reports whether a result adds nothing to the log: the same refusal, without effect on a wait. Such a result
// is still recorded when the number of tries reaches a power of two, and every noteAgain.
func (s *Retries) Repeated(subject projector.Subject, f *events.CommandEnded, now events.Time) bool {
	k := s.known[f.Command]
	if k != nil {
		k.wish = now.Add(f.RetryAfter)
	}
	flight, retry := Stands(subject, f.Command)
	if k == nil || flight == nil || f.Class != retry.Class || now.Sub(retry.Noted) >= noteAgain {
		return false
	}
	if unknown := f.Class == 0; (unknown && f.Ending != events.OutcomeUnknown) || (!unknown && f.Ending != events.Refused) {
		return false
	}
	next, tries := retry.Next(&s.world.Settings, now)
	news := doubles(retry.Count, retry.Count+tries) || now.Add(f.RetryAfter) > next
	return !news
}

// doubles reports whether a count reached a power of two between a and b.
func doubles(a, b uint32) bool { return bits.Len32(a) != bits.Len32(b) }

// Ask creates the tasks of commands in backoff that are due, one try per command at a time. It records nothing: the
// decision is already durable.
func (s *Retries) Ask(now events.Time) {
	for {
		name, ok := s.asks.Next(now)
		if !ok {
			return
		}
		k := s.known[name]
		if k == nil {
			continue
		}
		subject := s.world.Subject(k.stream)
		j := projector.HolderOf(subject)
		if j == nil {
			s.Forget(name)
			continue
		}
		f, retry := j.Retrying(name)
		switch {
		case f != nil:
			next, _ := retry.Next(&s.world.Settings, now)
			if k.out { // a second try might be sent after the first is done
				s.asks.Set(name, next)
				continue
			}
			if k.eager--; k.eager > 0 {
				next = min(next, now.Add(2*s.world.Settings.APIBackoff))
			}
			k.asked, k.out = now, true
			if tasks.IsCreate(f.Command) {
				s.probes.Set(subject.Reference().Namespace, now.Add(probeEvery))
			}
			s.asks.Set(name, next)
			task := tasks.Of(s.world.Identity, subject, name, f.Command)
			task.Again = true
			s.ready = append(s.ready, task)
		case j.GaveUp(name):
			s.takeBack(subject, name, now)
		default:
			s.Forget(name)
		}
	}
}

// takeBack asks the executor for the outcome of a cancelled command's newest try. If no try is under way, the command
// is returned at once.
func (s *Retries) takeBack(j projector.Subject, name events.CommandID, now events.Time) {
	s.back = append(s.back, tasks.Of(s.world.Identity, j, name, j.InFlight(name)))
	s.asks.Set(name, now.Add(noAnswer))
}

// Take returns the commands in backoff to send now, whose decisions are durable, and the commands to withdraw.
func (s *Retries) Take() (send, back []events.Task) {
	send, back = s.ready, s.back
	s.ready, s.back = nil, nil
	return send, back
}
