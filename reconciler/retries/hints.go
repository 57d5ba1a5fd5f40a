package retries

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// The permissions of a Job controller do not include watching quotas or policies. So no event announces that a refused
// pod creation may now succeed. But some inputs make that likely; then one refused creation in that namespace is
// repeated early. In addition, one creation per namespace is repeated every few seconds (a probe). Each creation that
// succeeds causes two more to be repeated, so all creations of a namespace get through within a few round trips.

// probeEvery is the time without a repeated creation in a namespace after which one is repeated. Example: a quota is
// raised at 12:00:00; a creation repeated by 12:00:04 succeeds, and the other creations follow within a few round
// trips.
const probeEvery = 4 * time.Second

// Hint says that refused pod creations in a namespace may now succeed. creates is how many of them to repeat, tries is
// how many early attempts each may get, and later delays the attempts by the first backoff.
type Hint struct {
	namespace string
	later     bool
	creates   int
	tries     int
}

// HintOf derives a hint (that refused pod creations may succeed) from an input about j, before the input is applied to
// j. ok is false if the input makes no creation more likely to succeed, or if no creation has been refused.
func (s *Retries) HintOf(j projector.Subject, facts events.Facts) (h Hint, ok bool) {
	if len(s.lines) == 0 || j == nil {
		return Hint{}, false
	}
	h = Hint{namespace: j.Reference().Namespace, creates: 1}
	switch f := facts.(type) {
	case *events.CommandEnded: // the input is not applied yet, so j still has the command
		if _, create := j.InFlight(f.Command).(*events.CreatePod); !create || f.Ending != events.Done {
			return Hint{}, false
		}
		h.tries = 1
		if s.known[f.Command] != nil {
			h.creates = 2 // a create that was refused before has succeeded, so the cause of the refusals is gone
		}
	case *events.PodSeen:
		if !f.Phase.Terminal() {
			return Hint{}, false
		}
		h.later, h.tries = true, 2 // retry later: the quota's usage shows the ended pod only after some seconds
	case *events.PodGone:
		h.later, h.tries = true, 2
	default:
		return Hint{}, false
	}
	return h, true
}

// line holds a namespace's refused pod creations, in the order in which they are to be repeated.
type line []events.CommandID

// take returns the first creation that still waits to be repeated, as stands reports, and moves it to the end.
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

// enqueue adds a refused pod creation to those of its namespace that wait to be repeated.
func (s *Retries) enqueue(namespace string, name events.CommandID, now events.Time) {
	all := s.lines[namespace]
	if all == nil {
		all = &line{}
		s.lines[namespace] = all
		s.probes.Set(namespace, now.Add(probeEvery))
	}
	*all = append(*all, name)
}

// next returns the pod creation of the namespace to repeat next; ok is false if none was refused.
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

// AfterHints schedules early attempts of refused pod creations, as the hints of a turn say.
func (s *Retries) AfterHints(hints []Hint, now events.Time) {
	for _, h := range hints {
		for range h.creates {
			if name, ok := s.next(h.namespace); ok {
				s.hasten(name, now, h)
			}
		}
	}
}

// Probe schedules an attempt of one refused pod creation in each namespace in which none was repeated for probeEvery.
// It goes through the creations in turn. So if they are refused for different reasons, each reason is tried, though
// less often.
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

// hasten schedules an early attempt of a refused command, as hint h says. The attempt waits for at least the first
// backoff after the newest one, and for the time that the API server asked for.
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
