package oracle

import (
	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// eventSink reads upstream's Kubernetes Events from its log messages, in which the recorder names each of them. The
// Events that reach the API server have passed client-go's rate limit, which drops some.
type eventSink struct{ front *front }

// Init implements logr.LogSink; it does nothing.
func (s *eventSink) Init(logr.RuntimeInfo) {}

// Enabled returns true for level 3, at which the recorder logs Events.
func (s *eventSink) Enabled(level int) bool { return level == 3 }

// Info counts an Event, if the message is about one.
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

// Error drops upstream's messages about failures, because its writes show them.
func (s *eventSink) Error(error, string, ...any) {}

// WithValues returns the sink unchanged, because no message about an Event has such values.
func (s *eventSink) WithValues(...any) logr.LogSink { return s }

// WithName returns the sink unchanged.
func (s *eventSink) WithName(string) logr.LogSink { return s }

// told counts a Kubernetes Event n times more.
func (c *cluster) told(key eventKey, n int) { c.events[key] += n }
