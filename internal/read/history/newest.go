package history

import (
	"context"
	"errors"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// firstWindow is how many records at the end of a log are looked at first. Each further look takes in twice as many.
const firstWindow = 256

// Newest gives the last n records that a query wants, none of them behind that sequence, in the order of the log. It
// reads no more of the log's end than holds them, or twice that.
func Newest(ctx context.Context, src Source, q Query, n int, through events.Sequence) ([]events.Record, error) {
	if q.Stream != nil {
		return newestOf(ctx, src, q, n, through)
	}
	var got []events.Record
	first := max(q.From, 1)
	for size := max(firstWindow, 2*n); ; size *= 2 {
		from := first
		if through >= first+events.Sequence(size) {
			from = through - events.Sequence(size) + 1
		}
		window, err := lastOf(ctx, src, q, n-len(got), from, through)
		if errors.Is(err, store.ErrPruned) && from > q.From {
			window, err = lastOf(ctx, src, q, n-len(got), 0, through)
			from = first // what is before is no longer kept
		}
		got = append(window, got...)
		if err != nil || len(got) >= n || from <= first {
			return got, err
		}
		through = from - 1
	}
}

// lastOf gives the last n records that a query wants from one sequence to another.
func lastOf(ctx context.Context, src Source, q Query, n int, from, through events.Sequence) (last []events.Record, err error) {
	q.From, q.Limit = from, 0
	for r, err := range src.Records(ctx, q) {
		if err != nil {
			return trim(last, n), err
		}
		if r.Sequence > through {
			break
		}
		if last = append(last, r); len(last) > 2*n+firstWindow {
			last = trim(last, n)
		}
	}
	return trim(last, n), nil
}

func trim(all []events.Record, n int) []events.Record {
	return slices.Clone(all[max(0, len(all)-n):])
}

// newestOf is Newest for one stream, which is read backward, and past damage.
func newestOf(ctx context.Context, src Source, q Query, n int, through events.Sequence) (got []events.Record, err error) {
	names := NamesOf(ctx, src)
	for through > 0 {
		var damage error
		for r, err := range src.ReadStream(ctx, *q.Stream, through, store.Backward) {
			if errors.Is(err, store.ErrPruned) {
				break // what is before is no longer kept
			}
			if err != nil {
				damage = err
				break
			}
			if through = r.Sequence - 1; r.Sequence < q.From {
				break
			}
			if q.Wants(&r, names) {
				got = append(got, r)
			}
			if len(got) == n {
				break
			}
		}
		if err == nil {
			err = damage
		}
		at := place(&events.Record{}, damage)
		if !src.Beside(damage) || at == 0 || at > through {
			break
		}
		through = at - 1
	}
	slices.Reverse(got)
	return got, err
}
