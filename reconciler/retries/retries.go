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

// noteAgain is how often a refusal that continues is recorded again: every 30 minutes. A Kubernetes Event is deleted
// after an hour, so a user always finds one.
const noteAgain = 30 * time.Minute

// noAnswer is the time after which the executor is asked again to withdraw a cancelled command.
const noAnswer = 10 * time.Second

// Retries holds the refused commands that wait to be sent again, and when. It is computed from the log, so a crash
// loses nothing.
type Retries struct {
	world *projector.World
	asks  due.Queue[events.CommandID]
	known map[events.CommandID]*stood
	lines map[string]*line // refused pod creations by namespace
	// probes holds, for each namespace with refused pod creations, when one of them is to be repeated (probeEvery).
	probes due.Queue[string]
	// alive is the latest time at which the previous process is known to have run.
	alive events.Time
	ready []events.Task // to send now
	back  []events.Task // to withdraw

	refused map[RefusedKind]int
	changed bool // refused has changed since it was last read
}

// stood is what Retries knows about a refused command that waits to be sent again.
type stood struct {
	stream events.Stream
	until  events.Time // end of the backoff, as it was when the next attempt was scheduled
	asked  events.Time // time of the newest attempt
	out    bool        // the executor has an attempt, or its result is queued for the loop
	eager  int         // number of early attempts left
	wish   events.Time // no attempt before this time, as the API server asked
	why    RefusedKind
}

// New returns a Retries without commands. It reads world (the state of all Jobs), and never changes it. alive is the
// latest time at which the previous process is known to have run.
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

// Again returns an empty Retries, for use after the cluster was restored to an earlier state at time now.
func (s *Retries) Again(now events.Time) *Retries {
	fresh := New(s.world, now)
	fresh.changed = true
	return fresh
}

// Wake returns when the next refused command is to be sent again; 0 for never.
func (s *Retries) Wake() events.Time {
	first := s.asks.First()
	if probe := s.probes.First(); first == 0 || probe != 0 && probe < first {
		return probe
	}
	return first
}

// Answered notes that the executor has reported the outcome of an attempt of the command.
func (s *Retries) Answered(name events.CommandID) {
	if k := s.known[name]; k != nil {
		k.out = false
	}
}

// Withdrawn notes that the executor was asked to withdraw the command. If no attempt is in progress, the executor may
// not know the command; then the request is repeated after noAnswer.
func (s *Retries) Withdrawn(name events.CommandID, now events.Time) {
	if s.known[name] != nil {
		s.asks.Set(name, now.Add(noAnswer))
	}
}

// Forget drops a command that no longer waits to be sent again.
func (s *Retries) Forget(name events.CommandID) {
	s.asks.Set(name, 0)
	s.count(name, RefusedKind{})
	delete(s.known, name)
}

// Shift moves all times by a step of the wall clock, so that waits last as long as before.
func (s *Retries) Shift(step time.Duration) {
	s.asks.Shift(step)
	s.probes.Shift(step)
	s.ShiftAlive(step)
	for _, k := range s.known {
		k.until, k.asked, k.wish = k.until.Add(step), k.asked.Add(step), k.wish.Add(step)
	}
}

// ShiftAlive moves alive, the time at which the previous process ran, by a step of the wall clock.
func (s *Retries) ShiftAlive(step time.Duration) { s.alive = s.alive.Add(step) }

// Follow sets when a command is to be sent again, if it is. Call it after each record about the command, or about its
// Job.
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
		// If the server asked to wait, the log may not say how long: make no early attempt before the next regular one
		if retry.Class == events.RefusedTooManyRequests {
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
		// Count from s.alive: an attempt that was due while no controller ran is made now
		at, _ := retry.Next(&s.world.Settings, s.alive)
		if due := s.asks.At(name); k.eager > 0 && due != 0 {
			at = min(at, due)
		}
		s.asks.Set(name, at)
	}
}

// count updates the numbers of refused commands by kind and reason. The zero RefusedKind means that the command no
// longer waits to be sent again.
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

// RefusedKind is a kind of command and a reason for which the API server refused it. Commands that wait to be sent
// again are counted by it.
type RefusedKind struct {
	Command string              // command kind, such as CreatePod, DeletePod or DropFinalizer
	Class   events.RefusalClass // 0 if the outcome of the newest attempt is unknown
}

// Refused returns how many commands of each RefusedKind wait to be sent again, and whether this has changed since the
// last call. The map is valid until the next turn.
func (s *Retries) Refused() (counts map[RefusedKind]int, changed bool) {
	changed, s.changed = s.changed, false
	return s.refused, changed
}

// FollowAll sets when each refused command of the subject is to be sent again.
func (s *Retries) FollowAll(subject projector.Subject, now events.Time) {
	if j := projector.HolderOf(subject); j != nil {
		for _, name := range j.AllRetrying() {
			s.Follow(subject, name, now)
		}
	}
}

// FollowCreate sets when the Job's refused pod creation is to be sent again. Pods that other clients create may change
// that time.
func (s *Retries) FollowCreate(subject projector.Subject, now events.Time) {
	j, ok := subject.(*projector.Job)
	if !ok {
		return
	}
	if c := j.RetryingCreate(); c != nil {
		s.Follow(j, c.Flight().Name(), now)
	}
}

// Stands returns the command called name and its backoff, if it was refused, is still wanted, and waits to be sent
// again; otherwise nil. Commands about a CronJob or a retired Job are never sent again unchanged, so it returns nil for
// them.
func Stands(s projector.Subject, name events.CommandID) (*commands.Flight, *commands.Retry) {
	if j := projector.HolderOf(s); j != nil {
		return j.Retrying(name)
	}
	return nil, nil
}

// Repeated reports whether a result need not be recorded, because it is the same refusal again, and prolongs no wait.
// Nevertheless such a result is recorded when the number of attempts reaches a power of two, and once every noteAgain.
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

// doubles reports whether a power of two lies in (a, b], for counts a <= b.
func doubles(a, b uint32) bool { return bits.Len32(a) != bits.Len32(b) }

// Ask makes tasks for the refused commands that are to be sent again now. A command has at most one attempt in
// progress. Nothing is recorded, because the decision is already durable.
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
			// If an attempt is in progress, make no second one: both could take effect
			if k.out {
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

// takeBack asks the executor to withdraw a cancelled command. If an attempt is in progress, its outcome is reported;
// otherwise the command ends as withdrawn at once.
func (s *Retries) takeBack(j projector.Subject, name events.CommandID, now events.Time) {
	s.back = append(s.back, tasks.Of(s.world.Identity, j, name, j.InFlight(name)))
	s.asks.Set(name, now.Add(noAnswer))
}

// Take returns the refused commands to send again now, and the commands to withdraw. Their decisions are durable.
func (s *Retries) Take() (send, back []events.Task) {
	send, back = s.ready, s.back
	s.ready, s.back = nil, nil
	return send, back
}
