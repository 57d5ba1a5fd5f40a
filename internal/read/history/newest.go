package history

import (
	"context"
	"errors"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// firstWindow is the number of records that Newest reads first, at the end of the log; it reads 2n if n is more than
// half of firstWindow. Each further window is twice as large: 256, 512, 1024 records.
const firstWindow = 256

// Newest returns the last n records that q selects, in log order, and none after sequence through. It reads windows of
// doubling size from the end of the log back, and so at most about twice the records that it must read.
func Newest(ctx context.Context, src Source, q Query, n int, through events.Sequence) ([]events.Record, error) {
	if q.Stream != nil {
		return newestOf(ctx, src, q, n, through)
	}
	var got []events.Record
	first := max(q.From, 1)
	for size := max(firstWindow, 2*n); ; size *= 2 {
		from := max(first+events.Sequence(size), through+1) - events.Sequence(size)
		window, err := lastOf(ctx, src, q, n-len(got), from, through)
		if errors.Is(err, store.ErrPruned) && from > q.From {
			window, err = lastOf(ctx, src, q, n-len(got), 0, through)
			from = first // older records are pruned
		}
		got = append(window, got...)
		if err != nil || len(got) >= n || from <= first {
			return got, err
		}
		through = from - 1
	}
}

// lastOf returns the last n records between from and through that a query selects.
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

// newestOf is Newest for a query about one stream. It reads the stream backward, and continues past damage.
func newestOf(ctx context.Context, src Source, q Query, n int, through events.Sequence) (got []events.Record, err error) {
	names := NamesOf(ctx, src)
	for through > 0 {
		var damage error
		for r, err := range src.ReadStream(ctx, *q.Stream, through, store.Backward) {
			if errors.Is(err, store.ErrPruned) {
				break // older records are pruned
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
