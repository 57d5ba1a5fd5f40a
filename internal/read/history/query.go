package history

import (
	"context"
	"iter"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// Query says which records are wanted. The zero Query wants all.
type Query struct {
	From      events.Sequence // from this one on
	Through   events.Sequence // none behind it; 0 for no bound
	Stream    *events.Stream  // nil for all
	Since     events.Time     // none before it; 0 for no bound
	Until     events.Time     // none behind it; 0 for no bound
	Kinds     []events.Kind   // none for all
	Namespace string          // of the object that a record is about; empty for all
	Limit     int             // how many at most; 0 for no limit
}

// Wants reports whether a record is one of those. The names know what was said before of its stream.
func (q *Query) Wants(r *events.Record, names *words.Names) bool {
	switch {
	case r.Sequence < q.From, q.Since != 0 && r.Time < q.Since, q.Until != 0 && r.Time > q.Until,
		len(q.Kinds) > 0 && !slices.Contains(q.Kinds, r.Kind):
		return false
	case q.Namespace == "":
		return true
	case r.Evidence.Namespace != "":
		return r.Evidence.Namespace == q.Namespace
	}
	return names.Job(r.Stream).Namespace == q.Namespace
}

// Records is described by Source.
func (l Local) Records(ctx context.Context, q Query) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		names, n := NamesOf(ctx, l), 0
		for r, err := range l.around(ctx, &q) {
			if err != nil {
				yield(r, err)
				return
			}
			if q.Through != 0 && r.Sequence > q.Through {
				return
			}
			if q.Namespace != "" {
				names.Learn(&r)
			}
			wanted := q.Wants(&r, names)
			if wanted {
				n++
				if !yield(r, nil) || n == q.Limit {
					return
				}
			}
			names.Forget(&r)
		}
	}
}

// around gives the records that a query may want.
func (l Local) around(ctx context.Context, q *Query) iter.Seq2[events.Record, error] {
	switch {
	case q.Stream != nil:
		return l.noted().ReadStream(ctx, *q.Stream, q.From, store.Forward)
	case q.Since == 0 && q.Until == 0:
		return l.noted().Read(ctx, q.From)
	}
	return func(yield func(events.Record, error) bool) {
		spans, err := l.spans(ctx, q.From, q.Since, q.Until)
		if err != nil {
			yield(events.Record{}, err)
			return
		}
		for _, s := range spans {
			for r, err := range l.noted().Read(ctx, s.from) {
				if err == nil && r.Sequence > s.through {
					break
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}
