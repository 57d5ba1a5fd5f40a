package history

import (
	"context"
	"errors"
	"slices"
	"sort"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/recordjson"
	"github.com/jobledger/jobledger/store"
)

// span is consecutive records, both ends included.
type span struct{ from, through events.Sequence }

// spans are the parts of the log, from a record on, that hold all its records of a time that is not before since and not behind until;
// 0 is no bound. The times of records only grow, but where the clock was set back, which a ClockStepped record says. So each part
// between two of these is searched by halves. Where the log is damaged, a part may hold more than is wanted.
func (l Local) spans(ctx context.Context, from events.Sequence, since, until events.Time) ([]span, error) {
	head := l.Log.Head().Sequence
	first, err := l.firstKept(ctx)
	if err != nil {
		return nil, err
	}
	if from = max(from, first); first == 0 || from > head {
		return nil, nil
	}
	begins, err := l.setBack(ctx, from)
	if err != nil {
		return nil, err
	}
	var out []span
	for i, at := range begins {
		s := span{at, head}
		if i+1 < len(begins) {
			s.through = begins[i+1] - 1
		}
		if s, err = l.narrow(ctx, s, since, until); err != nil {
			return nil, err
		}
		if s.from <= s.through {
			out = append(out, s)
		}
	}
	return out, nil
}

// firstKept is the first record; 0 when there is none.
func (l Local) firstKept(ctx context.Context) (events.Sequence, error) {
	for r, err := range l.Log.Read(ctx, 0) {
		var bad *store.CorruptError
		if errors.As(err, &bad) {
			return max(bad.At, 1), nil
		}
		return r.Sequence, err
	}
	return 0, nil
}

// PrunedBefore is the first record of a log whose first ones are no longer kept; nil for a log that has them, and for one that begins
// with damage.
func PrunedBefore(ctx context.Context, src Source) *Place {
	for r, err := range src.Read(ctx, 0) {
		if err != nil || r.Sequence <= 1 {
			break
		}
		return &Place{Sequence: uint64(r.Sequence), Time: recordjson.Instant(r.Time)}
	}
	return nil
}

// setBack gives where parts begin in which times only grow: at from, and where the clock was set back after.
func (l Local) setBack(ctx context.Context, from events.Sequence) ([]events.Sequence, error) {
	begins := []events.Sequence{from}
	for r, err := range l.Log.ReadStream(ctx, events.Controller, from, store.Forward) {
		var bad *store.CorruptError
		if errors.As(err, &bad) && bad.Next > from {
			more, err := l.setBack(ctx, bad.Next) // each file stands alone
			return slices.Compact(append(begins, more...)), err
		}
		if errors.Is(err, store.ErrCorrupt) {
			break
		}
		if err != nil {
			return nil, err
		}
		f, ok := r.Facts.(*events.ClockStepped)
		if !ok || f.Step >= 0 || r.Sequence == from {
			continue
		}
		at := r.Sequence
		if before, err := Record(ctx, l, at-1); err == nil && before.Sequence >= from && before.Time == r.Time {
			at-- // a file begins there: the controller's state stands before it, in the same batch
		}
		begins = append(begins, at)
	}
	return slices.Compact(begins), nil
}

// narrow leaves out of a part in which times only grow what is before since and behind until.
func (l Local) narrow(ctx context.Context, s span, since, until events.Time) (span, error) {
	n := int(s.through - s.from + 1)
	var failed error
	at := func(i int) events.Time {
		r, err := Record(ctx, l, s.from+events.Sequence(i))
		if err != nil {
			failed = err
		}
		return r.Time
	}
	from, behind := 0, n
	if since != 0 {
		from = sort.Search(n, func(i int) bool { return failed != nil || at(i) >= since })
	}
	if until != 0 {
		behind = sort.Search(n, func(i int) bool { return failed != nil || at(i) > until })
	}
	switch {
	case errors.Is(failed, store.ErrCorrupt):
		return s, nil
	case failed != nil:
		return s, failed
	}
	return span{s.from + events.Sequence(from), s.from + events.Sequence(behind) - 1}, nil
}
