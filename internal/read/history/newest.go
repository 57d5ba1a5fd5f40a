package history

import (
	"context"
	"errors"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// firstWindow is the number of records at the end of the log that Newest reads first. If it finds too few, it reads the
// 512 records before them, then the 1024 before those. To find n records, it reads at least 2n first: 400 for n = 200.
const firstWindow = 256

// Newest returns the last n records that q selects, none after sequence through, in log order. It reads windows of
// doubling size from the end of the log back, so at most about twice the part that holds these records. With q.Looks it
// may end before: with the records that it found, and a MoreError.
func Newest(ctx context.Context, src Source, q Query, n int, through events.Sequence) ([]events.Record, error) {
	switch {
	case through == 0:
		return nil, nil
	case q.Stream != nil:
		return newestOf(ctx, src, q, n, through)
	}
	var got []events.Record
	first, bounded, left := max(q.From, 1), q.Looks > 0, q.Looks
	q.Looks = 0
	for size := max(firstWindow, 2*n); ; size *= 2 {
		if bounded {
			size = min(size, left)
		}
		from := max(first+events.Sequence(size), through+1) - events.Sequence(size)
		window, err := lastOf(ctx, src, q, n-len(got), from, through)
		if errors.Is(err, store.ErrPruned) && from > q.From {
			window, err = lastOf(ctx, src, q, n-len(got), 0, through)
			from = first // older records are pruned (deleted), so this was the last window: do not go on
		}
		got = append(window, got...)
		if err != nil || len(got) >= n || from <= first {
			return got, err
		}
		through = from - 1
		if left -= size; bounded && left <= 0 {
			return got, &MoreError{At: through}
		}
	}
}

// lastOf returns the last n records that query q selects, from sequence from to through.
func lastOf(ctx context.Context, src Source, q Query, n int, from, through events.Sequence) (last []events.Record, err error) {
	q.From, q.Through, q.Limit = from, through, 0
	for r, err := range src.Records(ctx, q) {
		if err != nil {
			return trim(last, n), err
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

// newestOf returns the last n records of one stream that q selects, in log order, and none after sequence through. It
// reads the stream backward. If a part of the log is damaged, it notes the damage and goes on before it.
func newestOf(ctx context.Context, src Source, q Query, n int, through events.Sequence) (got []events.Record, err error) {
	names, looks := NamesOf(ctx, src), 0
	var more *MoreError
	for through > 0 && more == nil {
		var damage error
		for r, err := range src.ReadStream(ctx, *q.Stream, through, store.Backward) {
			if errors.Is(err, store.ErrPruned) {
				break // older records are pruned (deleted): there is nothing more to read
			}
			if err != nil {
				damage = err
				break
			}
			if looks++; q.Looks != 0 && looks > q.Looks {
				more = &MoreError{At: r.Sequence}
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
	if more != nil {
		err = errors.Join(err, more)
	}
	return got, err
}
