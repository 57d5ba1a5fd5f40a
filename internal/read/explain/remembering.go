package explain

import (
	"context"
	"iter"
	"reflect"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// mostAlone is how many records are remembered that were looked up alone: specs and pod templates, which the runs of a
// CronJob share. A Job costs one or two of them: 1,000 CronJobs fit. When there are more, all are forgotten.
const mostAlone = 2048

// remembering reads the controller's stream once, however many Jobs are looked at, and a record that is looked up alone
// once for all Jobs that refer to it. Nothing that failed is remembered.
type remembering struct {
	history.Source
	controller []events.Record
	read       bool
	alone      map[events.Sequence]events.Record
}

func (m *remembering) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
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

func (m *remembering) Records(ctx context.Context, q history.Query) iter.Seq2[events.Record, error] {
	if !reflect.DeepEqual(q, history.One(q.From)) { // not what history.Record asks
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

func (m *remembering) remember(r *events.Record) {
	if m.alone == nil || len(m.alone) >= mostAlone {
		m.alone = map[events.Sequence]events.Record{}
	}
	m.alone[r.Sequence] = *r
}
