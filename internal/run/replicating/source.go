package replicating

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/internal/run/cloning"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog/exchange"
)

// reachWithin is how long OfStream waits for a replica (process with a copy of the log) that has all records of the
// stream.
const reachWithin = 10 * time.Second

// OfStream opens a replicated log for cloning, as a running replica (process with a copy of the log) has it. That
// replica has all records that were in the stream when OfStream was called. It uses the fields Dial, Stream, Reader and
// Listen of c.
func OfStream(ctx context.Context, c VerifyConfig) (s *cloning.Source, err error) {
	k, err := connect(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			k.close()
		}
	}()
	if err := k.listen(ctx, DefaultMembers); err != nil {
		return nil, err
	}
	chain, err := k.read(ctx)
	if err != nil {
		return nil, err
	}
	s, err = k.reach(ctx, chain.state.Head)
	if err != nil {
		return nil, fmt.Errorf("clone the log of the stream %s: %w", c.Stream, err)
	}
	s.Done = func() error { k.close(); return nil }
	return s, nil
}

// errNoneRuns is returned if no running replica was found.
var errNoneRuns = errors.New("no controller with a replica was heard, and the stream alone need not have all of the log: start one, " +
	"or clone the directory of one that is stopped")

// reach returns the log of a replica that has record end, the stream's last one, and the same records through it. It
// tries replicas with more records first.
func (k *verifying) reach(ctx context.Context, end store.Head) (*cloning.Source, error) {
	over := time.Now().Add(reachWithin)
	for tries := 0; ; tries++ {
		all := k.exchange.Heads()
		slices.SortStableFunc(all, func(a, b exchange.Head) int { return cmp.Compare(b.Head.Sequence, a.Head.Sequence) })
		failed := errNoneRuns
		for i := range all {
			has, err := k.exchange.Files(ctx, all[i].Who, end.Sequence)
			if err == nil {
				err = continues(has, end)
			}
			if err == nil {
				s := sourceOf(k.exchange, &all[i], has)
				s.Has = []store.Head{end, has.Head}
				return s, nil
			}
			if i == 0 {
				failed = fmt.Errorf("replica %s: %w", all[i].Name, err)
			}
		}
		if time.Now().After(over) || len(all) == 0 || ctx.Err() != nil {
			return nil, errors.Join(ctx.Err(), failed)
		}
		dial.Wait(ctx, dial.Pause(tries, firstPause, mostPause))
	}
}

// sourceOf returns the log of the replica h as a source to copy from. has lists the replica's files.
func sourceOf(x *exchange.Exchange, h *exchange.Head, has exchange.Has) *cloning.Source {
	return &cloning.Source{
		Name: "replica " + h.Name, LogID: x.LogID(), Files: has.Files,
		File: func(first events.Sequence) store.Fetch { return x.File(h.Who, first) },
		Tail: func(ctx context.Context) iter.Seq2[[]byte, error] {
			return tailOf(ctx, x, h.Who, &has.Files[len(has.Files)-1])
		},
		Gone: gone,
	}
}

// gone reports whether another try, or another replica, may succeed after this error. After an error of this machine's
// disk it returns false.
func gone(err error) bool {
	own := (*fs.PathError)(nil)
	return !errors.Is(err, store.ErrDiverged) && !errors.Is(err, store.ErrHeld) && !errors.As(err, &own)
}

// tailOf yields the records of the newest file, which the replica who is still writing.
func tailOf(ctx context.Context, x *exchange.Exchange, who string, tail *store.SharedFile) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if tail.End.Sequence < tail.First {
			return
		}
		for g, err := range x.Groups(ctx, who, tail.First, tail.Before.Hash, tail.End.Sequence) {
			if err != nil {
				yield(nil, err)
				return
			}
			if g.BeginsFile && g.First > tail.First {
				return
			}
			for _, stored := range g.Records {
				if !yield(stored, nil) {
					return
				}
			}
		}
	}
}
