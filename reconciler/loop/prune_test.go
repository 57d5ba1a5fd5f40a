package loop_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestARunnerRecordsWhatGoes: a request to prune is answered once its record is durable. If no later file states the
// records that would go, nothing is recorded.
func TestARunnerRecordsWhatGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := memlog.New(events.Identity{LogID: "0f", Epoch: 1}, memlog.ShortFiles(32<<10))
		l, err := joblog.Write(log, restating(3_000))
		if err != nil {
			t.Fatal(err)
		}
		newest, whole := l.World().Restated()
		if whole < 2 {
			t.Fatalf("the newest file that stands alone begins with record %d", whole)
		}
		log = log.Crash(1 << 30)
		world, err := loop.Recover(t.Context(), log)
		if err != nil {
			t.Fatal(err)
		}
		r := runner(log, &counting{})
		r.Loop = loop.New(loop.Config{
			Log: log, World: world, Settings: events.DefaultSettings(), Program: "test", Salt: func() (s events.Salt) { return s },
		})
		prunes := make(chan loop.Pruning)
		r.Prunes = prunes
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		for _, row := range []struct {
			first events.Sequence
			want  bool
		}{{whole, true}, {max(newest, whole) + 1, false}, {2, true}} {
			before, recorded := log.Head().Sequence, make(chan struct{})
			select {
			case prunes <- loop.Pruning{Facts: &events.Pruned{First: row.first, Reason: events.PruneSize}, Recorded: recorded}:
			case <-time.After(time.Minute):
				t.Fatal("the runner does not listen")
			}
			<-recorded
			got := false
			for rec, err := range log.Read(t.Context(), before+1) {
				if err != nil {
					t.Fatal(err)
				}
				p, ok := rec.Facts.(*events.Pruned)
				got = got || ok && p.First == row.first && rec.Stream == events.Controller && !rec.Critical
			}
			if got != row.want {
				t.Errorf("records before %d: recorded is %t, want %t", row.first, got, row.want)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		checkSame(t, r.Loop.World(), log)
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
}

// checkSame compares a world with a recovery from the log.
func checkSame(t *testing.T, want *projector.World, log *memlog.Log) {
	t.Helper()
	got, err := loop.Recover(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	compareWorlds(t, want.Head, want, got)
}
