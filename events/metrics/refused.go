package metrics

import (
	lock "sync"

	"github.com/jobledger/jobledger/events"
)

// retrying is the creates in backoff, with the reason that they are counted by. They are asked for again and again, and
// the log has a record of that now and then only, while a dashboard wants to see each creation that is refused when it
// is.
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

// Refused counts that the API server refused the command of that name once more, when it is a create in backoff
// already (J-203). All other refusals are counted from their record.
func (m *Metrics) Refused(name events.CommandID) {
	m.retrying.mu.Lock()
	reason, ok := m.retrying.reasons[name]
	m.retrying.mu.Unlock()
	if ok {
		m.podsCreated.WithLabelValues(reason, failed).Inc()
	}
}
