package loop

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/admission"
	"github.com/jobledger/jobledger/store"
)

// A stream unknown to the world may have older records in the log: the Job was over long ago, or a pod that names it
// is seen first. The next record must name its predecessor. The log may have to read files for that, so it is asked on
// the goroutine that brings the observation, before the observation is queued, and not on the loop's.

// memory asks the log once per Job that is new to this process.
type memory struct {
	log store.Reader

	mu    sync.Mutex
	known map[types.UID]struct{}
}

// Remember makes the queue ask the log for the past of Jobs that world does not know. Call it before the first input.
// Without it the loop asks.
func (q *Queue) Remember(log store.Reader, world *projector.World) {
	m := &memory{log: log, known: map[types.UID]struct{}{}}
	for _, s := range world.Streams() {
		if s.Kind == events.StreamJob {
			m.known[types.UID(s.ID)] = struct{}{}
		}
	}
	q.memory = m
}

// of returns the past of the observation's Job; nil if it need not be known. On an error it returns nil: the loop will
// meet the same error.
func (m *memory) of(o *events.Observation) *admission.Past {
	uid := o.Job.UID
	if m == nil || uid == "" {
		return nil
	}
	var born events.Time
	m.mu.Lock()
	_, known := m.known[uid]
	switch f := o.Facts.(type) {
	case *events.JobGone:
		delete(m.known, uid)
		known = true
	case *events.JobSeen:
		born = f.Created
		m.known[uid] = struct{}{}
	default:
		m.known[uid] = struct{}{}
	}
	m.mu.Unlock()
	if known {
		return nil
	}
	p := &admission.Past{Through: m.log.Head().Sequence}
	var err error
	if p.Newest, err = m.log.Newest(events.JobStream(uid), born); err != nil {
		return nil
	}
	return p
}

// past returns the last record of a stream that the world does not know; 0 for none.
func (l *Loop) past(s events.Stream) events.Sequence {
	if p := l.pasts[s]; p != nil && p.Through >= l.forgotten {
		return p.Newest
	}
	at, err := l.log.Newest(s, 0)
	if err != nil {
		l.broken = fmt.Errorf("look for the past of %s: %w", s, err)
	}
	return at
}
