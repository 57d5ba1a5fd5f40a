package loop_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/memlog"
)

// hanging is hands with a call in flight that never ends by itself.
type hanging struct{ gaveUp time.Time }

func (*hanging) Submit(...events.Task)      {}
func (*hanging) TakeBack(...events.Task)    {}
func (h *hanging) Stop(ctx context.Context) { <-ctx.Done(); h.gaveUp = time.Now() }

// TestAStopWaitsWhileTheLeaseIsHeld: a Lease that is lost, before the stop or while it drains, ends the wait for what is in flight
// at once, and the log says so (O-023).
func TestAStopWaitsWhileTheLeaseIsHeld(t *testing.T) {
	const drain = 20 * time.Second
	for _, row := range []struct {
		sentence string
		lostAt   time.Duration // after the stop began; negative for never
		want     time.Duration
	}{
		{"without a loss it waits for as long as a stop may take", -1, drain},
		{"lost before the stop, it waits for nothing", 0, 0},
		{"lost while it drains, it waits no longer", 7 * time.Second, 7 * time.Second},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := memlog.New(events.Identity{LogID: "0f", Epoch: 1})
				hands, lost := &hanging{}, make(chan struct{})
				r := &loop.Runner{
					Loop: loop.New(loop.Config{
						Log: log, World: projector.NewWorld(), Settings: events.DefaultSettings(), Program: "test", Leader: "me",
						Salt: func() (s events.Salt) { return s },
					}),
					Queue: loop.NewQueue(), Executor: hands, Clock: loop.NewClock(time.Time{}), Log: slog.New(slog.DiscardHandler),
					Full: func(bool) {}, Relist: func() {}, Show: func(*loop.Loop) {}, Drain: drain, Lost: lost,
					ServerTime: func(context.Context) (time.Time, bool) { return time.Time{}, false },
				}
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- r.Run(ctx) }()
				time.Sleep(time.Minute)
				if row.lostAt == 0 {
					close(lost)
				}
				began := time.Now()
				stop()
				if row.lostAt > 0 {
					time.Sleep(row.lostAt)
					close(lost)
				}
				if err := <-ended; err != nil && row.lostAt >= 0 {
					t.Error(err)
				}
				if waited := hands.gaveUp.Sub(began); waited != row.want {
					t.Errorf("it waited for %s, want %s", waited, row.want)
				}
				told := false
				for rec, err := range log.Read(t.Context(), 1) {
					if err != nil {
						t.Fatal(err)
					}
					change, ok := rec.Facts.(*events.LeadershipChanged)
					told = told || ok && !change.Leading
				}
				if told != (row.lostAt >= 0) {
					t.Errorf("the log says that the Lease was lost: %t", told)
				}
				if err := log.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
