package loop

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// The rights of a Job controller do not allow watching quotas or policies, so nothing announces that a refused create
// may now succeed. But some inputs make it likely; then one create in backoff in that namespace is retried early. In
// addition, a probe retries one create per namespace every few seconds. Each retried create that succeeds leads to two
// more, so the creates of a namespace are freed within a few round trips.

// probeEvery is how long a namespace goes without a retried create before the next probe. Example: a quota is raised
// at 12:00:00; the next probe, by 12:00:04, succeeds, and the rest follows within 5 s in all.
const probeEvery = 4 * time.Second

// hint says that creates in a namespace may now be accepted. creates is how many to retry, tries is how often each may
// be retried early, and later delays them by a first backoff.
type hint struct {
	namespace string
	later     bool
	creates   int
	tries     int
}

// hear derives a hint from an input. It returns at once if no create is in backoff.
func (l *Loop) hear(b *batch, j projector.Subject, d *projector.Draft) {
	if len(l.retrying.lines) == 0 || j == nil {
		return
	}
	h := hint{namespace: j.Reference().Namespace, creates: 1}
	switch f := d.Facts.(type) {
	case *events.CommandEnded: // not folded yet, so still in flight
		if _, create := j.InFlight(f.Command).(*events.CreatePod); !create || f.Ending != events.Done {
			return
		}
		h.tries = 1
		if l.retrying.known[f.Command] != nil {
			h.creates = 2 // the reason for the refusals is gone
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

// waitingLine holds the creates of a namespace in backoff, in order of their turn.
type waitingLine []events.CommandID

// take returns the first create that is still in backoff, and moves it to the end.
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

// enqueue adds a refused create to the line of its namespace.
func (s *retrying) enqueue(namespace string, name events.CommandID, now events.Time) {
	line := s.lines[namespace]
	if line == nil {
		line = &waitingLine{}
		s.lines[namespace] = line
		s.probes.set(namespace, now.Add(probeEvery))
	}
	*line = append(*line, name)
}

// next returns the next create to retry in the namespace; ok is false if none is in backoff.
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

// heed retries creates early, according to the turn's hints.
func (l *Loop) heed(b *batch) {
	for _, h := range b.hints {
		for range h.creates {
			if name, ok := l.retrying.next(h.namespace); ok {
				l.hasten(name, b.time, h)
			}
		}
	}
}

// sound probes: it retries one create in each namespace that had none retried for probeEvery. Probes rotate over the
// Jobs, so if Jobs are refused for different reasons, each reason is probed, less often.
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

// hasten schedules an early retry of the command: not earlier than one first backoff after its newest try, nor earlier
// than the API server asked for.
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
