package loop

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// A stream that the world holds nothing of may still have a past in the log: its Job was over long ago, or the pod that
// names it is the first thing that is seen. The next record must say which one it follows. The log may have to read
// files to know that, so it is asked on the goroutine of whoever brings the observation, before it waits for its turn,
// and not on the loop's.

// past is where the stream of a Job ended, when the log was durable through that record.
type past struct {
	newest  events.Sequence // 0 for nowhere: the stream has no past
	through events.Sequence
}

// memory asks the log for the past of each Job that is new to this process, once.
type memory struct {
	log store.Reader

	mu    sync.Mutex
	known map[types.UID]struct{}
}

// Remember lets the queue ask the log for the past of Jobs that the world does not know yet. It is called before
// anything comes in. Without it the loop asks.
func (q *Queue) Remember(log store.Reader, world *projector.World) {
	m := &memory{log: log, known: map[types.UID]struct{}{}}
	for _, s := range world.Streams() {
		if s.Kind == events.StreamJob {
			m.known[types.UID(s.ID)] = struct{}{}
		}
	}
	q.memory = m
}

// of is the past of the Job that an observation is about; nil where it need not be known. An error is left to the loop,
// which meets the same.
func (m *memory) of(o *events.Observation) *past {
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
	p := &past{through: m.log.Head().Sequence}
	var err error
	if p.newest, err = m.log.Newest(events.JobStream(uid), born); err != nil {
		return nil
	}
	return p
}

// past is where a stream that the world does not know ended; 0 for nowhere.
func (l *Loop) past(s events.Stream) events.Sequence {
	if p := l.pasts[s]; p != nil && p.through >= l.forgotten {
		return p.newest
	}
	at, err := l.log.Newest(s, 0)
	if err != nil {
		l.broken = fmt.Errorf("look for the past of %s: %w", s, err)
	}
	return at
}
