package loop

import (
	"cmp"
	"math/bits"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/projector"
)

// noteAgain is after how long a refusal that goes on is recorded again: a Kubernetes Event of it lives for an hour, and
// a reader of the log should find one.
const noteAgain = 30 * time.Minute

// noAnswer is after how long the executor is told once more of a command that was cancelled.
const noAnswer = 10 * time.Second

// retrying is the commands in backoff, and when each is asked again. It is derived from what the log says of them,
// so losing it loses nothing.
type retrying struct {
	asks  delayingQueue[events.CommandID]
	known map[events.CommandID]*stood
	lines map[string]*waitingLine // of creates, by namespace
	// probes is when a namespace in which creates are in backoff has had none asked for probeEvery.
	probes delayingQueue[string]
	// alive is the newest time at which the process before this one is known to have run.
	alive events.Time
	ready []events.Task // to be asked now
	back  []events.Task // to be withdrawn

	refused map[RefusedKind]int
	changed bool // refused has, since it was read last
}

// stood is one of them.
type stood struct {
	stream events.Stream
	until  events.Time // Retry.Until, by which asks holds its next try
	asked  events.Time // when it was asked last
	out    bool        // a try is with the executor, or its end is among the inputs that wait
	eager  int         // tries before its time that are left
	wish   events.Time // the API server has asked not to be asked before
	why    RefusedKind
}

func newRetrying(alive events.Time) retrying {
	return retrying{
		asks: newDelayingQueue(func(a, b events.CommandID) int {
			return cmp.Or(cmp.Compare(a.Decided, b.Decided), cmp.Compare(a.Place, b.Place))
		}),
		known: map[events.CommandID]*stood{}, lines: map[string]*waitingLine{}, refused: map[RefusedKind]int{},
		probes: newDelayingQueue(cmp.Compare[string]), alive: alive,
	}
}

func (s *retrying) forget(name events.CommandID) {
	s.asks.set(name, 0)
	s.count(name, RefusedKind{})
	delete(s.known, name)
}

// shift moves the times with the clock.
func (s *retrying) shift(step time.Duration) {
	s.asks.shift(step)
	s.probes.shift(step)
	s.alive = s.alive.Add(step)
	for _, k := range s.known {
		k.until, k.asked, k.wish = k.until.Add(step), k.asked.Add(step), k.wish.Add(step)
	}
}

// follow takes notice of how a command of the subject stands, after records of it.
func (l *Loop) follow(subject projector.Subject, name events.CommandID, now events.Time) {
	s, j := &l.retrying, projector.HolderOf(subject)
	if j == nil {
		s.forget(name)
		return
	}
	f, retry := j.Retrying(name)
	if f == nil {
		if !j.GaveUp(name) {
			s.forget(name)
		}
		return
	}
	k := s.known[name]
	if k == nil {
		k = &stood{stream: subject.ID(), asked: now}
		if retry.Class == events.RefusedTooManyRequests { // for how long it asked may not be in the log
			k.wish, _ = retry.Next(&l.world.Settings, now-1)
		}
		s.known[name] = k
		if isCreate(f.Command) {
			s.enqueue(subject.Reference().Namespace, name, now)
		}
	}
	s.count(name, RefusedKind{f.Command.Traits().Name, retry.Class})
	if k.until != retry.Until {
		k.until = retry.Until
		at, _ := retry.Next(&l.world.Settings, s.alive) // one that came due while no controller ran is made now
		if due := s.asks.at[name]; k.eager > 0 && due != 0 {
			at = min(at, due)
		}
		s.asks.set(name, at)
	}
}

// count takes notice of why a command stands; the zero kind says that it does no longer.
func (s *retrying) count(name events.CommandID, why RefusedKind) {
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

// RefusedKind is what commands in backoff have in common.
type RefusedKind struct {
	Command string              // the name of its kind: CreatePod, DeletePod, DropFinalizer
	Class   events.RefusalClass // 0 when it is unknown how the newest try ended
}

// Refused counts the commands in backoff, and reports whether that has changed since it was asked last. The map is
// valid until the next turn.
func (l *Loop) Refused() (counts map[RefusedKind]int, changed bool) {
	changed, l.retrying.changed = l.retrying.changed, false
	return l.retrying.refused, changed
}

// followAll does so for the commands that any record of the subject may concern.
func (l *Loop) followAll(s projector.Subject, now events.Time) {
	if j := projector.HolderOf(s); j != nil {
		for _, name := range j.AllRetrying() {
			l.follow(s, name, now)
		}
	}
}

// followCreate does so for the create that stands for all: pods that others made change when it is asked again.
func (l *Loop) followCreate(s projector.Subject, now events.Time) {
	j, ok := s.(*projector.Job)
	if !ok {
		return
	}
	if c := j.RetryingCreate(); c != nil {
		l.follow(j, c.Flight().Name(), now)
	}
}

// stands is the command of that name and its backoff, when it is in backoff and is still wanted; else nil. Commands
// about a CronJob, or a retired Job, are not asked again as they are.
func stands(s projector.Subject, name events.CommandID) (*commands.Flight, *commands.Retry) {
	if j := projector.HolderOf(s); j != nil {
		return j.Retrying(name)
	}
	return nil, nil
}

// repeated reports whether the end of a try says no more than the log does: the same refusal, which moves no wait and
// is not to be noted again yet. It is noted when the number of tries has reached a power of two, and after half an
// hour.
func (l *Loop) repeated(s projector.Subject, f *events.CommandEnded, now events.Time) bool {
	k := l.retrying.known[f.Command]
	if k != nil {
		k.wish = now.Add(f.RetryAfter)
	}
	flight, retry := stands(s, f.Command)
	if k == nil || flight == nil || f.Class != retry.Class || now.Sub(retry.Noted) >= noteAgain {
		return false
	}
	if unknown := f.Class == 0; (unknown && f.Ending != events.OutcomeUnknown) || (!unknown && f.Ending != events.Refused) {
		return false
	}
	next, tries := retry.Next(&l.world.Settings, now)
	news := doubles(retry.Count, retry.Count+tries) || now.Add(f.RetryAfter) > next
	return !news
}

// doubles reports whether a count that went from a to b reached a power of two.
func doubles(a, b uint32) bool { return bits.Len32(a) != bits.Len32(b) }

// ask makes the tasks of commands in backoff that are due to be asked again, of each one at a time. Nothing is written
// down: what is asked for has been decided and is durable.
func (l *Loop) ask(now events.Time) {
	s := &l.retrying
	for {
		name, ok := s.asks.due(now)
		if !ok {
			return
		}
		k := s.known[name]
		if k == nil {
			continue
		}
		subject := l.world.Subject(k.stream)
		j := projector.HolderOf(subject)
		if j == nil {
			s.forget(name)
			continue
		}
		f, retry := j.Retrying(name)
		switch {
		case f != nil:
			next, _ := retry.Next(&l.world.Settings, now)
			if k.out { // asked for once more, it might be sent after it was done
				s.asks.set(name, next)
				continue
			}
			if k.eager--; k.eager > 0 {
				next = min(next, now.Add(2*l.world.Settings.APIBackoff))
			}
			k.asked, k.out = now, true
			if isCreate(f.Command) {
				s.probes.set(subject.Reference().Namespace, now.Add(probeEvery))
			}
			s.asks.set(name, next)
			task := l.task(subject, name, f.Command)
			task.Again = true
			s.ready = append(s.ready, task)
		case j.GaveUp(name):
			l.takeBack(subject, name, now)
		default:
			s.forget(name)
		}
	}
}

// takeBack asks the executor how the newest try of a command ended that is cancelled: whoever has it says so; when
// nobody has, it is given back at once.
func (l *Loop) takeBack(j projector.Subject, name events.CommandID, now events.Time) {
	s := &l.retrying
	s.back = append(s.back, l.task(j, name, j.InFlight(name)))
	s.asks.set(name, now.Add(noAnswer))
}

// Asks are the commands in backoff and are to be carried out again now, which are durable already, and those that are
// to be withdrawn.
func (l *Loop) Asks() (tasks, back []events.Task) {
	s := &l.retrying
	tasks, back = s.ready, s.back
	s.ready, s.back = nil, nil
	return tasks, back
}
