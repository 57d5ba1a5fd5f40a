package retries

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// The permissions of a Job controller do not include watching quotas or policies. So no event announces that a refused
// pod creation may now succeed. But some inputs make it likely; then one creation in backoff in that namespace is
// retried early. In addition, a probe retries one creation per namespace every few seconds. Each retry that succeeds
// causes two more, so all creations of a namespace get through within a few round trips.

// probeEvery is the time without a retried creation in a namespace after which the next probe retries one. Example: a
// quota is raised at 12:00:00; the next probe, by 12:00:04, succeeds, and the other creations follow within 5 s in all.
const probeEvery = 4 * time.Second

// Hint says that pod creations in a namespace may now be accepted. creates is how many of them to retry, tries is how
// many early retries each may get, and later delays the retries by the first backoff.
type Hint struct {
	namespace string
	later     bool
	creates   int
	tries     int
}

// HintOf derives a hint from an input about subject j, before the input is applied to j. ok is false if the input makes
// no creation more likely to succeed, or if no creation is in backoff.
func (s *Retries) HintOf(j projector.Subject, facts events.Facts) (h Hint, ok bool) {
	if len(s.lines) == 0 || j == nil {
		return Hint{}, false
	}
	h = Hint{namespace: j.Reference().Namespace, creates: 1}
	switch f := facts.(type) {
	case *events.CommandEnded: // j still has the command in flight
		if _, create := j.InFlight(f.Command).(*events.CreatePod); !create || f.Ending != events.Done {
			return Hint{}, false
		}
		h.tries = 1
		if s.known[f.Command] != nil {
			h.creates = 2 // whatever caused the refusals is gone
		}
	case *events.PodSeen:
		if !f.Phase.Terminal() {
			return Hint{}, false
		}
		h.later, h.tries = true, 2 // the quota's usage follows within seconds
	case *events.PodGone:
		h.later, h.tries = true, 2
	default:
		return Hint{}, false
	}
	return h, true
}

// line is the queue of a namespace's pod creations in backoff, in the order of their next retry.
type line []events.CommandID

// take returns the first creation for which stands is true (it is still in backoff), and moves it to the end.
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

// enqueue adds a refused pod creation to the queue of its namespace.
func (s *Retries) enqueue(namespace string, name events.CommandID, now events.Time) {
	all := s.lines[namespace]
	if all == nil {
		all = &line{}
		s.lines[namespace] = all
		s.probes.Set(namespace, now.Add(probeEvery))
	}
	*all = append(*all, name)
}

// next returns the next pod creation to retry in the namespace; ok is false if none is in backoff.
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

// AfterHints retries pod creations early, as the hints of a turn say.
func (s *Retries) AfterHints(hints []Hint, now events.Time) {
	for _, h := range hints {
		for range h.creates {
			if name, ok := s.next(h.namespace); ok {
				s.hasten(name, now, h)
			}
		}
	}
}

// Probe retries one pod creation in each namespace in which none was retried for probeEvery. It goes through the
// creations in turn. So if they are refused for different reasons, each reason is probed, though less often.
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

// hasten schedules an early retry of a command. The retry waits for at least the first backoff after the newest try,
// and for the time that the API server asked for.
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
