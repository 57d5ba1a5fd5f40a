package loop_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/notation"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// hanging is an executor with a call in flight that never ends by itself.
type hanging struct{ gaveUp time.Time }

func (*hanging) Submit(...events.Task)      {}
func (*hanging) TakeBack(...events.Task)    {}
func (*hanging) Hasten(...events.Task)      {}
func (h *hanging) Stop(ctx context.Context) { <-ctx.Done(); h.gaveUp = time.Now() }

// TestAStopWaitsWhileTheLeaseIsHeld: a stop waits for the calls in flight. When the Lease is lost, before the stop or
// during the wait, the wait ends at once, and the log says so (O-023).
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
				r := runner(log, hands)
				r.Drain, r.Lost = drain, lost
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

// runner is a Runner of an empty world.
func runner(log store.Log, hands loop.Executor) *loop.Runner {
	return &loop.Runner{
		Loop: loop.New(loop.Config{
			Log: log, World: projector.NewWorld(), Settings: events.DefaultSettings(), Program: "test", Leader: "me",
			Salt: func() (s events.Salt) { return s },
		}),
		Queue: loop.NewQueue(), Executor: hands, Clock: loop.NewClock(time.Time{}), Log: slog.New(slog.DiscardHandler),
		Full: func(bool) {}, Relist: func() {}, Behind: func(events.Identity, events.Rewind) {}, Show: func(*loop.Loop) {},
		ServerTime: func(context.Context) (time.Time, bool) { return time.Time{}, false },
	}
}

// counting is an executor that keeps its tasks, and carries out none.
type counting struct{ got []events.Task }

func (h *counting) Submit(tasks ...events.Task) { h.got = append(h.got, tasks...) }
func (*counting) TakeBack(...events.Task)       {}
func (*counting) Hasten(...events.Task)         {}
func (*counting) Stop(context.Context)          {}

// demo is a listing with one Job that needs a pod.
func demo() []events.Observation {
	spec := notation.NewSpec()
	spec.Hash = "content"
	seen := &events.JobSeen{
		Version: 1, Generation: 1, Spec: spec.Hash, Created: 946684800, Managed: true, ManagedBy: events.ManagedBy,
		Status: &events.JobStatus{Ready: events.Unset, Terminating: events.Unset},
	}
	return []events.Observation{
		{
			Job: events.JobRef{Namespace: "ns", Name: "demo", UID: "uid-demo"}, Facts: seen, Spec: &spec, Template: []byte("{}"),
			Evidence: events.Evidence{Namespace: "ns", Name: "demo"},
		},
		{Facts: &events.Synced{Resources: []events.Resource{events.Jobs, events.Pods}, Versions: []uint64{1, 1}}},
	}
}

// TestAFencedLogEndsTheRun: another writer took the log over while a decision was on its way to the disk. The run ends
// at once and says why, and the command of that decision is never sent.
func TestAFencedLogEndsTheRun(t *testing.T) {
	for _, row := range []struct {
		sentence string
		fenced   bool
		sent     int
	}{
		{"the decision became durable: its command is sent", false, 1},
		{"another writer was first: nothing is sent, and the run ends", true, 0},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := memlog.New(events.Identity{LogID: "0f", Epoch: 1}, memlog.Manual())
				hands := &counting{}
				r := runner(log, hands)
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				ended := make(chan error, 1)
				go func() { ended <- r.Run(ctx) }()
				synctest.Wait()
				for _, o := range demo() {
					r.Queue.Observe(o)
				}
				time.Sleep(time.Minute) // time to decide
				if !row.fenced {
					log.Commit(10)
					synctest.Wait()
					stop()
					synctest.Wait()
					log.Commit(10)
				} else {
					log.Fence()
				}
				err := <-ended
				if fenced := errors.Is(err, store.ErrFenced); fenced != row.fenced || (err != nil) != row.fenced {
					t.Errorf("it ended with %v", err)
				}
				if row.fenced && !strings.Contains(err.Error(), "another process has taken the log over") {
					t.Errorf("it does not say why it ended: %v", err)
				}
				if len(hands.got) != row.sent {
					t.Errorf("%d commands were sent, want %d", len(hands.got), row.sent)
				}
				_ = log.Close() // the error is checked above; closing ends those that wait
			})
		})
	}
}
