package whentest

import (
	"context"
	"iter"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// Log is a log with a few records, for tests. It answers reads of records, but has no lists of Jobs.
type Log struct {
	history.Local
	All  []events.Record
	Bad  events.Sequence // the record that cannot be read
	With error           // the error of that read
}

// Record returns a record with sequence n at second at, in stream s (the records of one object). Its kind follows from
// its facts.
func Record(n events.Sequence, at float64, s events.Stream, f events.Facts) events.Record {
	return events.Record{
		Header: events.Header{Sequence: n, Time: Sec(at), Stream: s, Kind: events.TraitsOf(f).Kinds[0].Kind}, Facts: f,
	}
}

// Records implements history.Source: it returns the records with q.From <= sequence <= q.Through, and ignores other
// fields of the query.
func (l *Log) Records(_ context.Context, q history.Query) iter.Seq2[events.Record, error] {
	return l.pick(slices.Values(l.All), func(r *events.Record) bool {
		return r.Sequence >= q.From && (q.Through == 0 || r.Sequence <= q.Through)
	})
}

// ReadStream implements history.Source: it returns the records of stream s, forward or backward, from sequence from.
func (l *Log) ReadStream(_ context.Context, s events.Stream, from events.Sequence,
	dir store.Direction) iter.Seq2[events.Record, error] {
	all := slices.Clone(l.All)
	if dir == store.Backward {
		slices.Reverse(all)
	}
	return l.pick(slices.Values(all), func(r *events.Record) bool {
		inside := from == 0 || dir == store.Forward && r.Sequence >= from || dir == store.Backward && r.Sequence <= from
		return r.Stream == s && inside
	})
}

func (l *Log) pick(all iter.Seq[events.Record], want func(*events.Record) bool) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r := range all {
			switch {
			case !want(&r):
			case r.Sequence == l.Bad:
				yield(events.Record{}, l.With)
				return
			case !yield(r, nil):
				return
			}
		}
	}
}
