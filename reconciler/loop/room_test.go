package loop_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// newRoomRunner returns a controller on a log without room.
func newRoomRunner(full func(bool)) (*memlog.Log, *loop.Runner) {
	log := memlog.New(events.Identity{LogID: "0f", Epoch: 1}, memlog.Limit(1))
	return log, &loop.Runner{
		Loop: loop.New(loop.Config{
			Log: log, World: projector.NewWorld(), Settings: events.DefaultSettings(), Program: "test",
			Salt: func() (s events.Salt) { return s },
		}),
		Queue: loop.NewQueue(), Executor: &hanging{}, Clock: loop.NewClock(time.Time{}), Log: slog.New(slog.DiscardHandler),
		Full: full, Relist: func() {}, Behind: func(events.Identity, events.Rewind) {}, Show: func(*loop.Loop) {}, Drain: time.Second,
		ServerTime: func(context.Context) (time.Time, bool) { return time.Time{}, false },
	}
}

// TestAStartWithoutRoomWaits: a start on a full disk says repeatedly that it waits for room, and goes on once there is
// room.
func TestAStartWithoutRoomWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []bool
		log, r := newRoomRunner(func(full bool) { said = append(said, full) })
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(said) < 30 || slices.Contains(said, false) {
			t.Fatalf("within a minute without room it said %d times whether there is any: %v", len(said), said)
		}
		if head := log.Head().Sequence; head != 0 {
			t.Fatalf("without room it wrote %d records", head)
		}
		log.SetLimit(0)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if head := log.Head().Sequence; head == 0 || said[len(said)-1] {
			t.Errorf("with room it wrote %d records, and said that the log is full: %t", head, said[len(said)-1])
		}
		stop()
		<-ended //nolint:errcheck // the executor hangs, so the stop may fail
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAStopEndsAStartThatWaits: it ends without an error, and without a record.
func TestAStopEndsAStartThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, r := newRoomRunner(func(bool) {})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		time.Sleep(time.Minute)
		began := time.Now()
		stop()
		if err := <-ended; err != nil || time.Since(began) != 0 {
			t.Errorf("the stop took %s and ended with %v", time.Since(began), err)
		}
		if head := log.Head().Sequence; head != 0 {
			t.Errorf("it wrote %d records", head)
		}
	})
}

// TestWhichJobsWait: first the unfinished Jobs that the log knows, then the Jobs in the queue.
func TestWhichJobsWait(t *testing.T) {
	m := newMachine(t)
	m.do("start")
	m.do("synced")
	m.do("job known")
	m.do("job over finished=Complete")
	q := loop.NewQueue()
	seen := func(name string, change func(*events.JobSeen)) {
		f := &events.JobSeen{Version: 1000, Managed: true}
		change(f)
		q.Observe(events.Observation{Job: events.JobRef{Namespace: "ns", Name: name, UID: types.UID("uid-" + name)}, Facts: f})
	}
	seen("known", func(*events.JobSeen) {})
	seen("new", func(*events.JobSeen) {})
	seen("foreign", func(f *events.JobSeen) { f.Managed = false })
	seen("leaving", func(f *events.JobSeen) { f.Deleted = 1 })
	seen("ended", func(f *events.JobSeen) {
		f.Status = &events.JobStatus{Conditions: []events.JobCondition{{Type: "Complete", Status: "True"}}}
	})
	seen("gone", func(*events.JobSeen) {})
	q.Observe(events.Observation{Job: events.JobRef{UID: "uid-gone"}, Facts: &events.JobGone{Version: 1001}})
	seen("newer", func(*events.JobSeen) {})
	for _, row := range []struct {
		most int
		want []string
	}{{10, []string{"known", "new", "newer"}}, {2, []string{"known", "new"}}, {1, []string{"known"}}, {0, nil}} {
		var got []string
		for _, ref := range m.loop.Unfinished(q, row.most) {
			got = append(got, ref.Name)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%d at most: %q, want %q", row.most, got, row.want)
		}
	}
}
