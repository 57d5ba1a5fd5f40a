package loop

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// Nobody tells us that a quota has room again or that a policy is gone: the rights of a Job controller do not allow to
// watch them. But the log hears of what makes it likely, and then one create in backoff in that namespace is asked
// before its time. And while creates of a namespace are in backoff, one of them is asked every few seconds in any case:
// a probe. When one that stood is done, the next two are asked, so what waits in a namespace is freed within a few
// round trips.

// probeEvery is after how long without a try in a namespace one of its creates is asked: what was refused in it goes on
// within 5 seconds after the cause is gone, with the time that the requests take.
const probeEvery = 4 * time.Second

// hint is that creates in a namespace may be accepted: how many, and how often each is asked before its time, at once
// or a first backoff later.
type hint struct {
	namespace string
	later     bool
	creates   int
	tries     int
}

// hear notes what an input lets us hope for. It costs nothing while no create stands.
func (l *Loop) hear(b *batch, j projector.Subject, d *projector.Draft) {
	if len(l.retrying.lines) == 0 || j == nil {
		return
	}
	h := hint{namespace: j.Reference().Namespace, creates: 1}
	switch f := d.Facts.(type) {
	case *events.CommandEnded: // not folded yet, so it is in flight
		if _, create := j.InFlight(f.Command).(*events.CreatePod); !create || f.Ending != events.Done {
			return
		}
		h.tries = 1
		if l.retrying.known[f.Command] != nil {
			h.creates = 2 // what it was refused for is gone
		}
	case *events.PodSeen:
		if !f.Phase.Terminal() {
			return
		}
		h.later, h.tries = true, 2 // the API server's quota follows within seconds
	case *events.PodGone:
		h.later, h.tries = true, 2
	default:
		return
	}
	b.hints = append(b.hints, h)
}

// waitingLine is the creates of a namespace in backoff, by whose turn it is.
type waitingLine []events.CommandID

// take is the first that still stands; it goes to the end.
func (w *waitingLine) take(stands func(events.CommandID) bool) (name events.CommandID, ok bool) {
	for len(*w) > 0 {
		name, *w = (*w)[0], (*w)[1:]
		if stands(name) {
			*w = append(*w, name)
			return name, true
		}
	}
	return name, false
}

// enqueue puts a create that is refused into its namespace's line.
func (s *retrying) enqueue(namespace string, name events.CommandID, now events.Time) {
	line := s.lines[namespace]
	if line == nil {
		line = &waitingLine{}
		s.lines[namespace] = line
		s.probes.set(namespace, now.Add(probeEvery))
	}
	*line = append(*line, name)
}

// next is the create of the namespace whose turn it is; ok is false when none stands any more.
func (s *retrying) next(namespace string) (name events.CommandID, ok bool) {
	line := s.lines[namespace]
	if line == nil {
		return name, false
	}
	if name, ok = line.take(func(n events.CommandID) bool { return s.known[n] != nil }); !ok {
		delete(s.lines, namespace)
		s.probes.set(namespace, 0)
	}
	return name, ok
}

// heed asks creates before their time that the turn's inputs give hope for.
func (l *Loop) heed(b *batch) {
	for _, h := range b.hints {
		for range h.creates {
			if name, ok := l.retrying.next(h.namespace); ok {
				l.hasten(name, b.time, h)
			}
		}
	}
}

// sound asks one create in each namespace in which creates are in backoff and none was asked for a while. The turn goes
// round the Jobs, so where they are refused for different reasons each of those is probed, and less often.
func (l *Loop) sound(now events.Time) {
	s := &l.retrying
	for {
		namespace, due := s.probes.due(now)
		if !due {
			return
		}
		if name, ok := s.next(namespace); ok {
			s.probes.set(namespace, now.Add(probeEvery))
			l.hasten(name, now, hint{tries: 1})
		}
	}
}

// hasten has the command asked soon, but not sooner after its newest try than a first refusal would be, nor before the
// time that the API server has asked for.
func (l *Loop) hasten(name events.CommandID, now events.Time, h hint) {
	s := &l.retrying
	k, backoff := s.known[name], l.world.Settings.APIBackoff
	at := max(now, k.asked.Add(backoff), k.wish)
	if h.later {
		at = max(at, now.Add(backoff))
	}
	if _, retry := stands(l.world.Subject(k.stream), name); retry != nil && retry.Wished(&l.world.Settings) {
		at = max(at, retry.Until)
	}
	if due := s.asks.at[name]; due != 0 && due <= at {
		return
	}
	k.eager = h.tries
	s.asks.set(name, at)
}
