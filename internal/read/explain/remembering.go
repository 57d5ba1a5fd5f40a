package explain

import (
	"context"
	"iter"
	"reflect"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// mostAlone is how many records that were read singly the cache keeps at most. These are specs and pod templates, which
// all Jobs of a CronJob share. A Job needs one or two, so 2,048 is enough for the Jobs of 1,000 CronJobs. A full cache
// is emptied.
const mostAlone = 2048

// Remembering is a Source (it reads a log) with a cache. It keeps the controller's records, and single records that
// were looked up by sequence. It does not keep failed reads.
type Remembering struct {
	history.Source
	controller []events.Record
	read       bool
	alone      map[events.Sequence]events.Record
}

func (m *Remembering) ReadStream(ctx context.Context, s events.Stream, from events.Sequence,
	dir store.Direction) iter.Seq2[events.Record, error] {
	if s != events.Controller || from != 0 || dir != store.Forward {
		return m.Source.ReadStream(ctx, s, from, dir)
	}
	return func(yield func(events.Record, error) bool) {
		if !m.read {
			for r, err := range m.Source.ReadStream(ctx, s, from, dir) {
				if err != nil {
					m.controller = nil
					yield(r, err)
					return
				}
				m.controller = append(m.controller, r)
			}
			m.read = true
		}
		for i := range m.controller {
			if !yield(m.controller[i], nil) {
				return
			}
		}
	}
}

func (m *Remembering) Records(ctx context.Context, q history.Query) iter.Seq2[events.Record, error] {
	if !reflect.DeepEqual(q, history.One(q.From)) { // only a lookup of one record is cached
		return m.Source.Records(ctx, q)
	}
	return func(yield func(events.Record, error) bool) {
		if r, known := m.alone[q.From]; known {
			yield(r, nil)
			return
		}
		for r, err := range m.Source.Records(ctx, q) {
			if err == nil && r.Sequence == q.From {
				m.remember(&r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (m *Remembering) remember(r *events.Record) {
	if m.alone == nil || len(m.alone) >= mostAlone {
		m.alone = map[events.Sequence]events.Record{}
	}
	m.alone[r.Sequence] = *r
}
