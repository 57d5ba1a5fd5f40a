package controller

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/run/copying"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/copylog/copylogtest"
	"github.com/jobledger/jobledger/store/livetail"
)

// counting is a log that counts the bytes of its records, as the controller's is.
type counting struct {
	store.Log
	written *atomic.Uint64
}

func (c counting) Append(b events.Batch, soon bool) store.Commit {
	commit := c.Log.Append(b, soon)
	c.written.Add(uint64(max(0, commit.Bytes())))
	return commit
}

// TestACopyBesideItsLogByTheClock: the half hour of TestALogStaysWithinItsSizeByTheClock, of a log that is copied to a
// bucket. Its server is away for ten minutes: for the most part of them it closes each connection, then it gives no
// answer. The log stays within its size, the records that are not in the copy are those that the log says it missed,
// and the rest is restored.
func TestACopyBesideItsLogByTheClock(t *testing.T) {
	effort.Whole(t)
	p := thePace()
	k := keep(t, p.most, copying.Consumer)
	server, place, well := copylogtest.NewTroubled(t, 1)
	log := counting{livetail.New(k.log, 0), &atomic.Uint64{}}
	copier, err := copying.New(copying.Config{
		Dir: k.dir, Log: log, Durable: k.log.Durable, Written: log.written.Load, Place: place, Writer: "test", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- copier.Run(ctx) }() // ends with stop
	caughtUp := func(through events.Sequence) {
		natstest.Eventually(t, "the copy is complete", func() error {
			if st := copier.Status(); st.Copied < through {
				return errors.New("it is behind: " + st.Problem)
			}
			return nil
		})
	}
	c := &clocked{keeping: k, pace: p}
	c.leaves = func() {
		_, head := k.log.Durable()
		caughtUp(head.Sequence)
		server.Leave(copylogtest.NoAnswer)
	}
	c.later = func() { server.Leave(copylogtest.TimeOut) }
	c.returns = server.Return
	c.write(log)
	caughtUp(k.log.Head().Sequence)
	stop()
	if err := errors.Join(<-ended, k.log.Close()); err != nil {
		t.Fatal(err)
	}
	st := copier.Status()
	t.Logf("%d objects with %d bytes were put; failures: %v; requests that met trouble: %v", st.Objects, st.Bytes, st.Failures, server.Counts())
	wantHoles(t, k, well)
}
