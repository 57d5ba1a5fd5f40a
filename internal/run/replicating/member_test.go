package replicating_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/natslog/stream"
	"github.com/jobledger/jobledger/store/storetest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// config is that of a process with a directory of its own.
func config(t *testing.T, s *natstest.Server) replicating.Config {
	return replicating.Config{
		Dial: dial.Config{URL: s.URL()}, Stream: "log", Replicas: 1, Unsafe: true, Key: events.Key{7}, Dir: t.TempDir(),
		Logger: slog.New(slog.DiscardHandler),
	}
}

func join(t *testing.T, c replicating.Config, own replicating.Own) (*replicating.Member, error) {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	m, err := replicating.Join(ctx, c, own)
	if err == nil {
		t.Cleanup(m.Close)
	}
	return m, err
}

// began is a member with its log, which has not followed yet.
func began(t *testing.T, c replicating.Config, own replicating.Own) (*replicating.Member, *boltlog.Log) {
	t.Helper()
	m, err := join(t, c, own)
	if err != nil {
		t.Fatal(err)
	}
	log, err := boltlog.Open(c.Dir, m.Options(store.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() }) // that of a fenced one fails
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	if err := m.Begin(ctx, log); err != nil {
		t.Fatal(err)
	}
	return m, log
}

// leads takes over, and gives what Write returns.
func leads(t *testing.T, m *replicating.Member, want uint64) (wrote <-chan error) {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	term, err := m.Take(ctx, func() bool { return true })
	if err != nil || term != want {
		t.Fatalf("it leads in term %d, %v; want %d", term, err, want)
	}
	writing, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	done := make(chan struct{})
	go func() { // ends with stop
		defer close(done)
		ended <- m.Write(writing)
	}()
	t.Cleanup(func() { stop(); <-done })
	return ended
}

// TestAStandbyFollowsAndTakesOver: what the first member wrote is on the disk of the second one, which was behind until
// it had read it. The first one ends, fenced.
func TestAStandbyFollowsAndTakesOver(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	a, first := began(t, config(t, server), replicating.Own{})
	wrote := leads(t, a, 1)
	w := storetest.NewWriter(t, a.Log(first))
	w.Create()
	w.Durable(storetest.Pod("job-a", 1), storetest.Pod("job-a", 2))

	b, second := began(t, config(t, server), replicating.Own{Lease: a.Named(), LogOf: a.LogID()})
	if b.Behind() == nil {
		t.Error("a member that has read nothing is not behind")
	}
	following, stop := context.WithCancel(t.Context())
	watching, end := context.WithCancel(t.Context())
	followed, watched := make(chan error, 1), make(chan error, 1)
	go func() { followed <- b.Follow(following) }()               // ends with stop
	go func() { watched <- b.Watch(watching, func(string) {}) }() // ends with end
	natstest.Eventually(t, "the standby is current", func() error { return b.Behind() })
	stop()
	end()
	if err := errors.Join(<-followed, <-watched); err != nil {
		t.Error(err)
	}
	if second.Head() != first.Head() || second.Head().Sequence < 3 {
		t.Errorf("the standby ends with %+v, the leader with %+v", second.Head(), first.Head())
	}
	leads(t, b, 2)
	if err := <-wrote; !errors.Is(err, store.ErrFenced) {
		t.Errorf("the old leader ends with %v, want %v", err, store.ErrFenced)
	}
}

// TestALeaderThatWaitsForTheStreamGivesUp: without an append it does not.
func TestALeaderThatWaitsForTheStreamGivesUp(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	c := config(t, server)
	c.GiveUp = time.Millisecond
	m, log := began(t, c, replicating.Own{})
	wrote := leads(t, m, 1)
	w := storetest.NewWriter(t, m.Log(log))
	w.Create()
	server.Stop()
	if err := storetest.Outcome(t, w.Append(true, storetest.Pod("job-a", 1))); err == nil {
		t.Error("a batch is durable without the stream")
	}
	if err := <-wrote; !errors.Is(err, replicating.ErrAway) {
		t.Errorf("it ends with %v, want %v", err, replicating.ErrAway)
	}
}

// TestTheWrongStreamIsRefused: in words that name what is wrong, and nothing is made.
func TestTheWrongStreamIsRefused(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	js := server.JetStream(stream.Options()...)
	names := func() (n int) {
		for range js.StreamNames(ctx).Name() {
			n++
		}
		return n
	}
	refused := func(c replicating.Config, own replicating.Own, says string) {
		t.Helper()
		before := names()
		if _, err := join(t, c, own); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("it is refused with %v, want %q", err, says)
		}
		if now := names(); now != before {
			t.Errorf("there are %d streams, before %d", now, before)
		}
	}
	c := config(t, server)
	refused(c, replicating.Own{Lease: "log/1a", LogOf: "6f"}, "there is no stream log")
	refused(c, replicating.Own{LogOf: "6f"}, "the Lease says that log 6f")

	m, log := began(t, c, replicating.Own{})
	id := m.LogID()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := replicating.RefuseAlone(c.Dir); err == nil {
		t.Error("the log of a member may be written without its stream")
	}
	refused(c, replicating.Own{LogID: "6f"}, "is of log "+id)
	refused(c, replicating.Own{LogID: id, Lease: "log/1a", LogOf: id}, "the Lease names log/1a")
	three := c
	three.Unsafe = false
	refused(three, replicating.Own{LogID: id}, "num_replicas")
	if err := js.DeleteStream(ctx, "log"); err != nil {
		t.Fatal(err)
	}
	elsewhere := c // other servers than before may be the wrong ones
	elsewhere.Dial.URL = strings.Replace(c.Dial.URL, "127.0.0.1", "localhost", 1)
	refused(elsewhere, replicating.Own{LogID: id}, "this log was in one")
	if m, err := join(t, c, replicating.Own{LogID: id}); err != nil || m.LogID() != id || names() != 0 {
		t.Errorf("on the servers where it was: %v; there are %d streams", err, names())
	}
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "log", Subjects: []string{stream.Subject("log")}}); err != nil {
		t.Fatal(err)
	}
	refused(c, replicating.Own{LogID: id}, "deny_delete")
	if err := js.DeleteStream(ctx, "log"); err != nil {
		t.Fatal(err)
	}
	began(t, config(t, server), replicating.Own{LogID: id}) // another member makes it anew
	refused(c, replicating.Own{LogID: id}, "REPLICA in "+c.Dir+" names")
	c.NewStream = true
	began(t, c, replicating.Own{LogID: id})
}
