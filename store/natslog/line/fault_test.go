package line_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/natslog/line"
	"github.com/jobledger/jobledger/store/natslog/replica"
	"github.com/jobledger/jobledger/store/natslog/stream"
	"github.com/jobledger/jobledger/store/storetest"
)

// begun is a leader of a new stream with records, one of them in several messages.
func begun(t *testing.T, server *natstest.Server) (*leader, *storetest.Writer) {
	t.Helper()
	p := lead(t, made(t, server.JetStream(stream.Options()...), "a", 1), t.TempDir(), "")
	w := storetest.NewWriter(t, p.log)
	w.Create()
	w.Durable(storetest.Text("job-a", 3<<20), storetest.Pod("job-a", 2))
	if place := p.line.State().Place; place < 5 {
		t.Errorf("3 MiB are stored in place %d, want in parts", place)
	}
	return p, w
}

// TestAClaimEndsTheOldLeader: with its next batch, which is on nobody's disk, or without one.
func TestAClaimEndsTheOldLeader(t *testing.T) {
	for _, appends := range []bool{true, false} {
		a, w := begun(t, natstest.NewServer(t, natstest.Inside).Start())
		b := lead(t, a.s, t.TempDir(), a.bolt.Identity().LogID)
		storetest.NewWriter(t, b.log).Durable(storetest.Pod("job-a", 3))
		good := a.bolt.Head()
		if appends {
			err := storetest.Outcome(t, w.Append(true, storetest.Pod("job-a", 4)))
			if !errors.Is(err, store.ErrFenced) || !errors.Is(err, store.ErrFailed) {
				t.Errorf("the old leader's batch: %v", err)
			}
		}
		if err := <-a.end; !errors.Is(err, store.ErrFenced) {
			t.Errorf("the old leader's line ends with %v", err)
		}
		a.end <- nil
		if err := storetest.Outcome(t, w.Append(true, storetest.Pod("job-a", 5))); !errors.Is(err, store.ErrFailed) {
			t.Errorf("the old leader's next batch: %v", err)
		}
		if _ = a.close(); a.bolt.Head() != good {
			t.Errorf("the old leader's log ends with %+v, want %+v", a.bolt.Head(), good)
		}
		if err := b.close(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		sameLog(t, b)
		sameLog(t, lead1(t, a, b)) // the old leader has what the new one appended, and leads again
	}
}

// lead1 lets a lead again, and ends it.
func lead1(t *testing.T, a, b *leader) *leader {
	t.Helper()
	a = lead(t, a.s, a.dir, "")
	if a.bolt.Head() != b.bolt.Head() {
		t.Errorf("it begins with %+v, the leader before it ended with %+v", a.bolt.Head(), b.bolt.Head())
	}
	storetest.NewWriter(t, a.log).Durable(storetest.Pod("job-a", 6))
	if err := a.close(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	return a
}

// TestAServerThatIsAwayIsWaitedFor: what was appended meanwhile is durable when it is back, once.
func TestAServerThatIsAwayIsWaitedFor(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	p, w := begun(t, server)
	for n := range 4 {
		server.Stop()
		c := w.Append(true, storetest.Pod("job-a", n))
		if n == 3 { // for 10 s nothing else is known
			natstest.Eventually(t, "the stream is as a full disk", func() error {
				if err := p.log.Room(1); !errors.Is(err, store.ErrNoRoom) {
					return errors.Join(errors.New("there is room"), err)
				}
				return nil
			})
		}
		server.Start()
		storetest.Await(t, c)
		if err := p.log.Room(1); err != nil {
			t.Error(err)
		}
	}
	if err := p.close(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	sameLog(t, p)
}

// TestALogThatDoesNotFitTheStreamIsLeftAlone: one with another history, one of another ID, and one whose next records
// the stream does not have any more.
func TestALogThatDoesNotFitTheStreamIsLeftAlone(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	p, _ := begun(t, server)
	if err := p.close(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	id := p.bolt.Identity().LogID
	refused := func(logID string, fill func(*storetest.Writer), want error) {
		t.Helper()
		log, err := boltlog.Open(t.TempDir(), store.Options{LogID: logID})
		if err != nil {
			t.Fatal(err)
		}
		defer close1(t, log)
		fill(storetest.NewWriter(t, log))
		head := log.Head()
		if err := through(p.s, log); !errors.Is(err, want) || log.Head() != head {
			t.Errorf("%v, and the log ends with %+v; want %v", err, log.Head(), want)
		}
	}
	nothing := func(*storetest.Writer) {}
	refused("another", nothing, store.ErrForeign)
	refused(id, func(w *storetest.Writer) {
		w.Create()
		w.Durable(storetest.Pod("job-b", 1), storetest.Pod("job-b", 2))
	}, store.ErrDiverged)
	p = lead(t, p.s, p.dir, "")
	js := server.JetStream()
	s, err := js.Stream(t.Context(), p.s.Name())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Conn().Request("$JS.API.STREAM.PURGE."+p.s.Name(), []byte(`{"keep":1}`), patience.Time()); err != nil {
		t.Fatal(err)
	}
	if info, err := s.Info(t.Context()); err != nil || info.State.FirstSeq < 5 {
		t.Fatalf("the stream begins with %d, %v", info.State.FirstSeq, err)
	}
	refused(id, nothing, replica.ErrBehind)
	storetest.NewWriter(t, p.log).Durable(storetest.Pod("job-a", 7))
	if err := p.close(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	p = lead1(t, p, p) // it has all that the stream has not
	if p.line.State().Term != 3 {
		t.Errorf("term %d, want 3", p.line.State().Term)
	}
}

// through follows to the end of the stream, and says how that ends.
func through(s *stream.Stream, log replica.Log) error {
	ctx, cancel := patience.Context(context.Background())
	defer cancel()
	f, err := replica.Begin(ctx, s, log, events.ReaderVersion{})
	if err != nil {
		return err
	}
	place, err := s.Newest(ctx)
	if err != nil {
		return err
	}
	return f.Through(ctx, place)
}

// TestALineThatHasNotClaimedStoresNothing: so no log is written before its process leads.
func TestALineThatHasNotClaimedStoresNothing(t *testing.T) {
	p := line.New(line.Config{Key: key})
	if err := p.Before(store.Group{}); err == nil {
		t.Error("it stores a group")
	}
}
