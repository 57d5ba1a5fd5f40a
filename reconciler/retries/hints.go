package retries

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

// Hint says that creates in a namespace may now be accepted. creates is how many to retry, tries is how often each may
// be retried early, and later delays them by a first backoff.
type Hint struct {
	namespace string
	later     bool
	creates   int
	tries     int
}

// HintOf derives a hint from an input about subject j, which is not folded yet. ok is false if it hints at nothing, or
// if no create is in backoff.
func (s *Retries) HintOf(j projector.Subject, facts events.Facts) (h Hint, ok bool) {
	if len(s.lines) == 0 || j == nil {
		return Hint{}, false
	}
	h = Hint{namespace: j.Reference().Namespace, creates: 1}
	switch f := facts.(type) {
	case *events.CommandEnded: // still in flight
		if _, create := j.InFlight(f.Command).(*events.CreatePod); !create || f.Ending != events.Done {
			return Hint{}, false
		}
		h.tries = 1
		if s.known[f.Command] != nil {
			h.creates = 2 // the reason for the refusals is gone
		}
	case *events.PodSeen:
		if !f.Phase.Terminal() {
			return Hint{}, false
		}
		h.later, h.tries = true, 2 // the API server's quota follows within seconds
	case *events.PodGone:
		h.later, h.tries = true, 2
	default:
		return Hint{}, false
	}
	return h, true
}

// line holds the creates of a namespace in backoff, in order of their turn.
type line []events.CommandID

// take returns the first create that is still in backoff, and moves it to the end.
func (w *line) take(stands func(events.CommandID) bool) (name events.CommandID, ok bool) {
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
func (s *Retries) enqueue(namespace string, name events.CommandID, now events.Time) {
	all := s.lines[namespace]
	if all == nil {
		all = &line{}
		s.lines[namespace] = all
		s.probes.Set(namespace, now.Add(probeEvery))
	}
	*all = append(*all, name)
}

// next returns the next create to retry in the namespace; ok is false if none is in backoff.
func (s *Retries) next(namespace string) (name events.CommandID, ok bool) {
	all := s.lines[namespace]
	if all == nil {
		return name, false
	}
	if name, ok = all.take(func(n events.CommandID) bool { return s.known[n] != nil }); !ok {
		delete(s.lines, namespace)
		s.probes.Set(namespace, 0)
	}
	return name, ok
}

// AfterHints retries creates early, according to a turn's hints.
func (s *Retries) AfterHints(hints []Hint, now events.Time) {
	for _, h := range hints {
		for range h.creates {
			if name, ok := s.next(h.namespace); ok {
				s.hasten(name, now, h)
			}
		}
	}
}

// Probe retries one create in each namespace that had none retried for probeEvery. Probes rotate over the Jobs, so if
// Jobs are refused for different reasons, each reason is probed, less often.
func (s *Retries) Probe(now events.Time) {
	for {
		namespace, over := s.probes.Next(now)
		if !over {
			return
		}
		if name, ok := s.next(namespace); ok {
			s.probes.Set(namespace, now.Add(probeEvery))
			s.hasten(name, now, Hint{tries: 1})
		}
	}
}

// hasten schedules an early retry of the command: not earlier than one first backoff after its newest try, nor earlier
// than the API server asked for.
func (s *Retries) hasten(name events.CommandID, now events.Time, h Hint) {
	k, backoff := s.known[name], s.world.Settings.APIBackoff
	at := max(now, k.asked.Add(backoff), k.wish)
	if h.later {
		at = max(at, now.Add(backoff))
	}
	if _, retry := Stands(s.world.Subject(k.stream), name); retry != nil && retry.Wished(&s.world.Settings) {
		at = max(at, retry.Until)
	}
	if set := s.asks.At(name); set != 0 && set <= at {
		return
	}
	k.eager = h.tries
	s.asks.Set(name, at)
}
