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

// A Job that the state does not know may have older records in the log, because it ended long ago. The Job's next
// record must name the newest of them. To find that record the log may have to read files. So the goroutine that queues
// an observation looks it up, and not the loop's goroutine.

// memory finds, once for each Job that is new to this process, the Job's newest record in the log.
type memory struct {
	log store.Reader

	mu    sync.Mutex
	known map[types.UID]struct{}
}

// Remember makes the queue look up, in the log, the newest record of each Job that world (the state at the start) does
// not know. Call it before the first input. Without it the loop does the lookups itself.
func (q *Queue) Remember(log store.Reader, world *projector.World) {
	m := &memory{log: log, known: map[types.UID]struct{}{}}
	for _, s := range world.Streams() {
		if s.Kind == events.StreamJob {
			m.known[types.UID(s.ID)] = struct{}{}
		}
	}
	q.memory = m
}

// of returns the newest record of the observation's Job; nil if that need not be looked up. After a read error it
// returns nil, too: the loop repeats the lookup and reports the error.
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

// past returns the last record in the log of a stream (Job or CronJob) that the state does not know; 0 for none.
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
