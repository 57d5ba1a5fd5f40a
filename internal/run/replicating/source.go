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

// reachWithin is how long OfStream waits for a replica that has what the stream had.
const reachWithin = 10 * time.Second

// OfStream opens the log of a stream, as a running replica has it. That replica has the newest record that the stream
// had when OfStream was called, on the stream's chain. Of c it uses Dial, Stream, Reader and Listen.
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

// errNoneRuns: no replica gives its files.
var errNoneRuns = errors.New("no controller with a replica was heard, and the stream alone need not have all of the log: start one, " +
	"or clone the directory of one that is stopped")

// reach finds a replica that has the stream's head, the one with the most records first.
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

// sourceOf is the log of a replica, which has told its files.
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

// gone reports whether another replica, or another try, may give what failed. That is not so for errors of this machine.
func gone(err error) bool {
	own := (*fs.PathError)(nil)
	return !errors.Is(err, store.ErrDiverged) && !errors.Is(err, store.ErrHeld) && !errors.As(err, &own)
}

// tailOf iterates over the records of the file that a replica is writing.
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
