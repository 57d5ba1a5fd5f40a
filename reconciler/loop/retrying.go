package loop

import (
	"cmp"
	"math/bits"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/projector"
)

// noteAgain is how often a continuing refusal is recorded again. A Kubernetes Event lives for an hour, and a reader
// should find one.
const noteAgain = 30 * time.Minute

// noAnswer is when the executor is told again about a cancelled command.
const noAnswer = 10 * time.Second

// retrying holds the commands in backoff and their next tries. It is derived from the log, so nothing is lost with it.
type retrying struct {
	asks  delayingQueue[events.CommandID]
	known map[events.CommandID]*stood
	lines map[string]*waitingLine // creates, by namespace
	// probes holds when each namespace with creates in backoff is probed next (probeEvery).
	probes delayingQueue[string]
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

// shift moves the times by a clock step.
func (s *retrying) shift(step time.Duration) {
	s.asks.shift(step)
	s.probes.shift(step)
	s.alive = s.alive.Add(step)
	for _, k := range s.known {
		k.until, k.asked, k.wish = k.until.Add(step), k.asked.Add(step), k.wish.Add(step)
	}
}

// follow updates the schedule of a command after records of its subject.
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
		if retry.Class == events.RefusedTooManyRequests { // the wait that it asked for may not be in the log
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
		at, _ := retry.Next(&l.world.Settings, s.alive) // a try that came due while no controller ran is made now
		if due := s.asks.at[name]; k.eager > 0 && due != 0 {
			at = min(at, due)
		}
		s.asks.set(name, at)
	}
}

// count updates the counters by reason; the zero kind means that the command left the backoff.
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

// RefusedKind groups commands in backoff.
type RefusedKind struct {
	Command string              // kind: CreatePod, DeletePod, DropFinalizer
	Class   events.RefusalClass // 0 if the outcome of the newest try is unknown
}

// Refused returns the number of commands in backoff by kind, and whether it has changed since the last call. The map
// is valid until the next turn.
func (l *Loop) Refused() (counts map[RefusedKind]int, changed bool) {
	changed, l.retrying.changed = l.retrying.changed, false
	return l.retrying.refused, changed
}

// followAll calls follow for every command that a record of the subject may concern.
func (l *Loop) followAll(s projector.Subject, now events.Time) {
	if j := projector.HolderOf(s); j != nil {
		for _, name := range j.AllRetrying() {
			l.follow(s, name, now)
		}
	}
}

// followCreate calls follow for the create that is retried on behalf of all: pods created by others change its
// schedule.
func (l *Loop) followCreate(s projector.Subject, now events.Time) {
	j, ok := s.(*projector.Job)
	if !ok {
		return
	}
	if c := j.RetryingCreate(); c != nil {
		l.follow(j, c.Flight().Name(), now)
	}
}

// stands returns the command called name and its backoff, if it is in backoff and still wanted; else nil. Commands
// about a CronJob or a retired Job are never retried unchanged.
func stands(s projector.Subject, name events.CommandID) (*commands.Flight, *commands.Retry) {
	if j := projector.HolderOf(s); j != nil {
		return j.Retrying(name)
	}
	return nil, nil
}

// repeated reports whether a result adds nothing to the log: the same refusal, without effect on a wait. Such a result
// is still recorded when the number of tries reaches a power of two, and every noteAgain.
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

// doubles reports whether a count reached a power of two between a and b.
func doubles(a, b uint32) bool { return bits.Len32(a) != bits.Len32(b) }

// ask creates the tasks of commands in backoff that are due, one try per command at a time. It records nothing: the
// decision is already durable.
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
			if k.out { // a second try might be sent after the first is done
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

// takeBack asks the executor for the outcome of a cancelled command's newest try. If no try is under way, the command
// is returned at once.
func (l *Loop) takeBack(j projector.Subject, name events.CommandID, now events.Time) {
	s := &l.retrying
	s.back = append(s.back, l.task(j, name, j.InFlight(name)))
	s.asks.set(name, now.Add(noAnswer))
}

// Asks returns the commands in backoff to send now, whose decisions are durable, and the commands to withdraw.
func (l *Loop) Asks() (tasks, back []events.Task) {
	s := &l.retrying
	tasks, back = s.ready, s.back
	s.ready, s.back = nil, nil
	return tasks, back
}
