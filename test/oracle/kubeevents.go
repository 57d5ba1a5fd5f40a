package oracle

import (
	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// eventSink takes upstream's Events from its log: the recorder logs each. The Events sent to the API server have passed
// client-go's flood control, which hides some.
type eventSink struct{ front *front }

// Init does nothing.
func (s *eventSink) Init(logr.RuntimeInfo) {}

// Enabled: Events are logged at level 3.
func (s *eventSink) Enabled(level int) bool { return level == 3 }

// Info takes the line of an Event.
func (s *eventSink) Info(_ int, msg string, pairs ...any) {
	if msg != "Event occurred" {
		return
	}
	var key eventKey
	for i := 0; i+1 < len(pairs); i += 2 {
		switch value := pairs[i+1].(type) {
		case klog.ObjectRef:
			key.job = value.Name
		case string:
			switch pairs[i] {
			case "type":
				key.kind = value
			case "reason":
				key.reason = value
			case "message":
				key.message = value
			}
		}
	}
	s.front.mu.Lock()
	defer s.front.mu.Unlock()
	if !s.front.spent {
		s.front.told(key, 1)
	}
}

// Error drops upstream's messages about failures: they show in what it does.
func (s *eventSink) Error(error, string, ...any) {}

// WithValues changes nothing: no Event has any.
func (s *eventSink) WithValues(...any) logr.LogSink { return s }

// WithName changes nothing.
func (s *eventSink) WithName(string) logr.LogSink { return s }

// told counts an Event.
func (c *cluster) told(key eventKey, n int) { c.events[key] += n }
