package metrics

import (
	lock "sync"

	"github.com/jobledger/jobledger/events"
)

// retrying holds the refused creates that are being retried, with their label reason. They are retried often and
// recorded rarely, while a dashboard should show each refusal when it happens.
type retrying struct {
	mu      lock.Mutex
	reasons map[events.CommandID]string
}

func (s *retrying) add(name events.CommandID, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reasons == nil {
		s.reasons = map[events.CommandID]string{}
	}
	s.reasons[name] = reason
}

func (s *retrying) remove(name events.CommandID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.reasons, name)
}

// Refused counts another refusal of a create that is being retried (J-203). All other refusals are counted from their
// records.
func (m *Metrics) Refused(name events.CommandID) {
	m.retrying.mu.Lock()
	reason, ok := m.retrying.reasons[name]
	m.retrying.mu.Unlock()
	if ok {
		m.podsCreated.WithLabelValues(reason, failed).Inc()
	}
}
