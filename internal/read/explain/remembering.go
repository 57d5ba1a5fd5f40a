package explain

import (
	"context"
	"iter"
	"reflect"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// mostAlone is the largest number of single records in the cache: specs and pod templates, which the Jobs of a CronJob
// share. A Job needs one or two, so those of 1,000 CronJobs fit. A full cache is emptied.
const mostAlone = 2048

// Remembering is a Source with a cache for the controller's records, and for records that are looked up by sequence. It
// does not cache failed reads.
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
	if !reflect.DeepEqual(q, history.One(q.From)) { // it is not a lookup by history.Record
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
