package loop

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// Nobody tells us that a quota has room again or that a policy is gone: the rights of a Job controller do not allow to watch
// them. But the log hears of what makes it likely, and then one create that stands refused in that namespace is asked before
// its time. When it is done that is a hint for the next, so what waits in a namespace follows one after the other.

// hint is that a create in a namespace may be accepted: how often it is asked before its time, at once or a first backoff later.
type hint struct {
	namespace string
	later     bool
	tries     int
}

// hear notes what an input lets us hope for. It costs nothing while no create stands.
func (l *Loop) hear(b *batch, j *projector.Job, d *projector.Draft) {
	if len(l.standing.lines) == 0 || j == nil {
		return
	}
	h := hint{namespace: j.Ref.Namespace}
	switch f := d.Facts.(type) {
	case *events.CommandEnded: // not folded yet, so it is in flight
		if _, create := j.InFlight(f.Command).(*events.CreatePod); !create || f.Ending != events.Done {
			return
		}
		h.tries = 1
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

// waitingLine is the creates of a namespace that stand refused, by whose turn it is.
type waitingLine []events.CommandName

// take is the first that still stands; it goes to the end.
func (w *waitingLine) take(stands func(events.CommandName) bool) (name events.CommandName, ok bool) {
	for len(*w) > 0 {
		name, *w = (*w)[0], (*w)[1:]
		if stands(name) {
			*w = append(*w, name)
			return name, true
		}
	}
	return name, false
}

// heed asks creates before their time that the turn's inputs give hope for: one for each hint.
func (l *Loop) heed(b *batch) {
	s := &l.standing
	for _, h := range b.hints {
		line := s.lines[h.namespace]
		if line == nil {
			continue
		}
		name, ok := line.take(func(n events.CommandName) bool { return s.known[n] != nil })
		if !ok {
			delete(s.lines, h.namespace)
			continue
		}
		s.hasten(name, b.time, h, l.world.Settings.APIBackoff)
	}
}

// hasten has the command asked soon, but not sooner after its newest try than a first refusal would be.
func (s *standing) hasten(name events.CommandName, now events.Time, h hint, backoff time.Duration) {
	k := s.known[name]
	at := max(now, k.asked.Add(backoff))
	if h.later {
		at = max(at, now.Add(backoff))
	}
	if due := s.asks.at[name]; due != 0 && due <= at {
		return
	}
	k.eager = h.tries
	s.asks.set(name, at)
}
