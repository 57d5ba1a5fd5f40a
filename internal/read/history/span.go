package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// span is a range of records, both ends included.
type span struct{ from, through events.Sequence }

// spans returns the parts of the log, from sequence from on, that hold all records with since <= time <= until (0 for
// no bound). The times of records only grow, except where the clock was set back, which a ClockStepped record marks. So
// spans does a binary search between each two such marks. It includes a damaged part, unless the records around it show
// that its times are out of range.
func (l Local) spans(ctx context.Context, from events.Sequence, since, until events.Time) ([]span, error) {
	head := l.Log.Head().Sequence
	first, err := l.firstKept(ctx)
	if err != nil {
		return nil, err
	}
	if from = max(from, first); first == 0 || from > head {
		return nil, nil
	}
	begins, err := l.growing(ctx, from)
	if err != nil {
		return nil, err
	}
	var out []span
	for i, at := range begins {
		s := span{at, head}
		if i+1 < len(begins) {
			s.through = begins[i+1] - 1
		}
		parts, err := l.narrow(ctx, s, since, until)
		if err != nil {
			return nil, err
		}
		out = append(out, parts...)
	}
	return out, nil
}

// firstKept returns the oldest record that is still in the log; 0 for an empty log.
func (l Local) firstKept(ctx context.Context) (events.Sequence, error) {
	for r, err := range l.noted().Read(ctx, 0) {
		var bad *store.CorruptError
		if errors.As(err, &bad) {
			return max(bad.At, 1), nil
		}
		return r.Sequence, err
	}
	return 0, nil
}

// PrunedBefore returns the first record of a log whose older records are pruned (deleted). It returns nil for a log
// that begins with record 1, and for one that begins with damage.
func PrunedBefore(ctx context.Context, src Source) (*Place, error) {
	for r, err := range src.Read(ctx, 0) {
		switch {
		case src.Beside(err):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("read where the log begins: %w", err)
		case r.Sequence > 1:
			return &Place{Sequence: uint64(r.Sequence), Time: recordjson.Instant(r.Time)}, nil
		}
		break
	}
	return nil, nil
}

// growing returns the first record of each part of the log in which times only grow. Parts begin at from, after each
// damaged part, and wherever the clock was set.
func (l Local) growing(ctx context.Context, from events.Sequence) ([]events.Sequence, error) {
	begins := []events.Sequence{from}
	for r, err := range PastDamage(ctx, l, events.Controller, from) {
		var bad *store.CorruptError
		if errors.As(err, &bad) && bad.Next > from {
			// The damage may hide that the clock was set back, so a new part begins after it.
			begins = append(begins, bad.Next)
		}
		if l.Beside(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		_, ok := r.Facts.(*events.ClockStepped)
		if !ok || r.Sequence == from {
			continue
		}
		at := r.Sequence
		before, err := Record(ctx, l, at-1)
		if err != nil && !l.Beside(err) && !errors.Is(err, store.ErrPruned) && !errors.Is(err, ErrNoRecord) {
			return nil, err
		}
		if err == nil && before.Sequence >= from && before.Time == r.Time {
			at-- // if the record before has the same time, it is the checkpoint at the start of a file: begin with it
		}
		begins = append(begins, at)
	}
	return slices.Compact(begins), nil
}

// narrow returns the records of s, a part of the log, with since <= time <= until, as a span. In s, times must only
// grow.
func (l Local) narrow(ctx context.Context, s span, since, until events.Time) ([]span, error) {
	n := int(s.through - s.from + 1)
	if n <= 0 {
		return nil, nil
	}
	var failed error
	unread := events.Sequence(0)
	at := func(i int) events.Time {
		r, err := Record(ctx, l, s.from+events.Sequence(i))
		if err != nil && failed == nil {
			failed, unread = err, s.from+events.Sequence(i)
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
	case l.Beside(failed):
		return l.besideDamage(ctx, s, unread, failed, since, until)
	case failed != nil:
		return nil, failed
	case from >= behind:
		return nil, nil
	}
	return []span{{s.from + events.Sequence(from), s.from + events.Sequence(behind) - 1}}, nil
}

// besideDamage searches s, a part of the log with a damaged record, for the records with since <= time <= until. It
// searches the parts before and behind the damage separately. unread is the damaged record, failed the error of its
// read.
func (l Local) besideDamage(ctx context.Context, s span, unread events.Sequence, failed error, since, until events.Time) ([]span, error) {
	damage := span{unread, s.through}
	if bad := (*store.CorruptError)(nil); errors.As(failed, &bad) && bad.Next > unread {
		damage.through = min(damage.through, bad.Next-1)
		damage.from = max(s.from, min(unread, bad.At))
	}
	out, err := l.narrow(ctx, span{s.from, damage.from - 1}, since, until)
	if err != nil {
		return nil, err
	}
	if !l.older(ctx, damage, since, s) && !l.newer(ctx, damage, until, s) {
		out = append(out, damage)
	}
	behind, err := l.narrow(ctx, span{damage.through + 1, s.through}, since, until)
	return append(out, behind...), err
}

// older reports whether all records in a damaged part are older than since. This is so if the first record after the
// damage is older: times only grow in the part of the log around the damage (parameter in).
func (l Local) older(ctx context.Context, damage span, since events.Time, in span) bool {
	if since == 0 || damage.through >= in.through {
		return false
	}
	r, err := Record(ctx, l, damage.through+1)
	return err == nil && r.Time < since
}

// newer reports whether all records in a damaged part are newer than until. This is so if the last record before the
// damage is newer: times only grow in the part of the log around the damage (parameter in).
func (l Local) newer(ctx context.Context, damage span, until events.Time, in span) bool {
	if until == 0 || damage.from <= in.from {
		return false
	}
	r, _ := Record(ctx, l, damage.from-1) // if the record cannot be read, r.Time is 0, and the result is false
	return r.Time > until
}
