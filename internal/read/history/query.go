package history

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// Query selects records. The zero Query selects all.
type Query struct {
	From      events.Sequence // lowest sequence
	Through   events.Sequence // highest sequence; 0 for no bound
	Stream    *events.Stream  // nil for all
	Since     events.Time     // earliest time; 0 for no bound
	Until     events.Time     // latest time; 0 for no bound
	Kinds     []events.Kind   // empty for all
	Namespace string          // namespace of the object that a record is about; empty for all
	Limit     int             // largest number of records; 0 for no limit
	Looks     int             // largest number of records to look at, selected or not; 0 for no limit. Then: MoreError
}

// MoreError ends the records of a query that looked at Looks of them: more follow, or for Newest precede. A source that
// asks another process may ignore Looks.
type MoreError struct {
	At events.Sequence // where to go on: From of the next query, or for Newest its through
}

func (e *MoreError) Error() string {
	return fmt.Sprintf("more records are to be looked at, from %d on", e.At)
}

// Wants reports whether the query selects r; it does not check Through, Stream and Limit. names returns the namespace
// of the record's object, so it must have learned the earlier records of the stream.
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

// Records implements Source: it returns the records that query q selects, in log order.
func (l Local) Records(ctx context.Context, q Query) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		names, n, looks := NamesOf(ctx, l), 0, 0
		for r, err := range l.around(ctx, &q) {
			if err != nil {
				yield(r, err)
				return
			}
			if q.Through != 0 && r.Sequence > q.Through {
				return
			}
			if looks++; q.Looks != 0 && looks > q.Looks {
				yield(events.Record{}, &MoreError{At: r.Sequence})
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

// around returns the records among which are all that query q selects: those of one stream, or of the parts of the log
// that overlap the times of the query.
func (l Local) around(ctx context.Context, q *Query) iter.Seq2[events.Record, error] {
	switch {
	case q.Stream != nil:
		return l.noted().ReadStream(ctx, *q.Stream, q.From, store.Forward)
	case q.Since == 0 && q.Until == 0:
		return l.noted().Read(ctx, q.From)
	}
	return func(yield func(events.Record, error) bool) {
		from, more := l.onward(ctx, q, yield)
		if !more {
			return
		}
		spans, err := l.spans(ctx, from, q.Since, q.Until)
		if err != nil {
			yield(events.Record{}, err)
			return
		}
		for _, s := range spans {
			for r, err := range l.noted().Read(ctx, s.from) {
				if r.Sequence > s.through { // after an error, r is the zero Record, so this is false
					break
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// onward yields the records from q.From on while they are in the times of the query. So a page that begins in the
// middle of these times searches for no beginning. It returns from where on the parts are to be searched for, and
// whether they are.
func (l Local) onward(
	ctx context.Context, q *Query, yield func(events.Record, error) bool,
) (from events.Sequence, more bool) {
	if from = q.From; from == 0 {
		return 0, true
	}
	for r, err := range l.Log.Read(ctx, from) { // damage at its beginning may be out of the times: the search notes it
		switch {
		case err != nil && from == q.From:
			return from, true
		case err != nil:
			l.Beside(err)
			yield(r, err)
			return 0, false
		case r.Time < q.Since, q.Until != 0 && r.Time > q.Until:
			return r.Sequence, q.Through == 0 || r.Sequence <= q.Through
		case !yield(r, nil):
			return 0, false
		}
		from = r.Sequence + 1
	}
	return 0, false // the log ends in the times
}
