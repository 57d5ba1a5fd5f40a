package loop_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// asked is a log that counts the questions for a stream's newest record.
type asked struct {
	*memlog.Log
	n atomic.Int64
}

func (a *asked) Newest(s events.Stream, born events.Time) (events.Sequence, error) {
	a.n.Add(1)
	return a.Log.Newest(s, born)
}

// run runs a controller on the log until stop is called.
func (a *asked) run(t *testing.T, remember bool) (q *loop.Queue, stop func()) {
	t.Helper()
	world, err := loop.Recover(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	q = loop.NewQueue()
	if remember {
		q.Remember(a, world)
	}
	r := &loop.Runner{
		Loop: loop.New(loop.Config{
			Log: a, World: world, Settings: events.DefaultSettings(), Program: "test", Salt: func() (s events.Salt) { return s },
		}),
		Queue: q, Executor: &hanging{}, Clock: loop.NewClock(time.Time{}), Log: slog.New(slog.DiscardHandler),
		Full: func(bool) {}, Relist: func() {}, Behind: func(events.Identity, events.Rewind) {}, Show: func(*loop.Loop) {}, Drain: time.Second,
		ServerTime: func(context.Context) (time.Time, bool) { return time.Time{}, false },
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	synctest.Wait()
	return q, func() {
		cancel()
		<-ended //nolint:errcheck // the executor hangs, so the stop may fail
	}
}

// TestTheLoopAsksForNoPast: a Job that is new to the process may have older records in the log, and its next record
// must follow them. The goroutine that brings the observation asks the log for them, so that the loop need not wait for
// an answer.
func TestTheLoopAsksForNoPast(t *testing.T) {
	for _, row := range []struct {
		sentence string
		remember bool
	}{{"whoever brings it asks", true}, {"nobody asks before, so the loop does", false}} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &asked{Log: memlog.New(events.Identity{LogID: "0f", Epoch: 1})}
				version := uint64(10)
				see := func(q *loop.Queue, uid types.UID, facts events.Facts) (asking int64) {
					before := a.n.Load()
					version++
					switch f := facts.(type) {
					case *events.JobSeen:
						f.Version, f.Created, f.Status = version, events.At(time.Now()), &events.JobStatus{}
					case *events.JobGone:
						f.Version = version
					}
					q.Observe(events.Observation{
						Job: events.JobRef{Namespace: "ns", Name: string(uid), UID: uid}, Facts: facts, Spec: &events.JobSpec{Hash: "spec"},
					})
					asking = a.n.Load() - before
					synctest.Wait()
					return asking
				}
				q, stop := a.run(t, false)
				see(q, "old", &events.JobSeen{})
				see(q, "old", &events.JobGone{})
				stop()

				a.n.Store(0)
				q, stop = a.run(t, row.remember)
				asking := int64(0)
				for _, uid := range []types.UID{"old", "new", "new", "other"} {
					asking += see(q, uid, &events.JobSeen{})
				}
				if loops := a.n.Load() - asking; (loops == 0) != row.remember || (asking == 3) != row.remember {
					t.Errorf("who brings it asked %d times, the loop %d times", asking, loops)
				}
				stop()
				last := map[events.Stream]events.Sequence{}
				for r, err := range a.Read(t.Context(), 1) {
					if err != nil {
						t.Fatal(err)
					}
					if r.Previous != last[r.Stream] {
						t.Errorf("record %d of %s follows %d, not %d", r.Sequence, r.Stream, last[r.Stream], r.Previous)
					}
					last[r.Stream] = r.Sequence
				}
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
