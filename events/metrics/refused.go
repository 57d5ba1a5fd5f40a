package metrics

import (
	lock "sync"

	"github.com/jobledger/jobledger/events"
)

// standing is the creates that stand refused, with the reason that they are counted by. They are asked for again and again, and the
// log has a record of that now and then only, while a dashboard wants to see each creation that is refused when it is.
type standing struct {
	mu      lock.Mutex
	reasons map[events.CommandName]string
}

func (s *standing) add(name events.CommandName, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reasons == nil {
		s.reasons = map[events.CommandName]string{}
	}
	s.reasons[name] = reason
}

func (s *standing) remove(name events.CommandName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.reasons, name)
}

// Refused counts that the API server refused the command of that name once more, when it is a create that stands refused
// already (J-203). All other refusals are counted from their record.
func (m *Metrics) Refused(name events.CommandName) {
	m.standing.mu.Lock()
	reason, ok := m.standing.reasons[name]
	m.standing.mu.Unlock()
	if ok {
		m.podsCreated.WithLabelValues(reason, failed).Inc()
	}
}
