package replicating_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/natslog/exchange"
	"github.com/jobledger/jobledger/store/natslog/stream"
	"github.com/jobledger/jobledger/store/storetest"
)

// smallFiles make a log of several files soon.
var smallFiles = store.Options{RotateBytes: 64 << 10}

// led is a leader with a log of several files, whose newest records are in a stream that was cut behind the others.
func led(t *testing.T, c replicating.Config) (*replicating.Member, *boltlog.Log, *storetest.Writer) {
	t.Helper()
	m, log := filled(t, c, replicating.Own{})
	leads(t, m, 1)
	w := storetest.NewWriter(t, m.Log(log))
	w.Create()
	grow(t, w, log, 3)
	exchanges(t, m)
	return m, log, w
}

// grow appends until the log has that many files.
func grow(t *testing.T, w *storetest.Writer, log *boltlog.Log, files int) {
	t.Helper()
	for n := 0; ; n++ {
		all, err := log.Files()
		if err != nil {
			t.Fatal(err)
		}
		if len(all) >= files {
			return
		}
		w.Durable(storetest.Text("job-a", 5000), storetest.Pod("job-b", n))
	}
}

// filled is a member with its log, which came from another replica where that was needed.
func filled(t *testing.T, c replicating.Config, own replicating.Own) (*replicating.Member, *boltlog.Log) {
	t.Helper()
	m, err := join(t, c, own)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	if err := m.Fill(ctx, c.Dir); err != nil {
		t.Fatal(err)
	}
	log, err := boltlog.Open(c.Dir, m.Options(smallFiles))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() }) // that of a fenced one fails
	if err := m.Begin(ctx, log); err != nil {
		t.Fatal(err)
	}
	return m, log
}

// exchanges lets a member give others what it has.
func exchanges(t *testing.T, m *replicating.Member) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Exchange(ctx) }() // ends with stop
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// cut removes from the stream all that is before its newest message.
func cut(t *testing.T, server *natstest.Server) {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	s, err := stream.Open(ctx, server.JetStream(stream.Options()...), "log")
	if err != nil {
		t.Fatal(err)
	}
	place, err := s.Newest(ctx)
	if err == nil {
		err = s.Cut(ctx, place)
	}
	if first, err1 := s.First(ctx); err != nil || err1 != nil || first != place {
		t.Fatalf("the stream begins with place %d, %v, %v; want %d", first, err, err1, place)
	}
}

// follows brings a member to the end of the leader's log, and compares records, chain and files.
func follows(t *testing.T, m *replicating.Member, log, leader *boltlog.Log) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	followed := make(chan error, 1)
	go func() { followed <- m.Follow(ctx) }() // ends with stop
	natstest.Eventually(t, "the replica has what the leader has", func() error {
		if got, want := log.Head(), leader.Head(); got != want {
			return errors.New("it ends with record " + got.Hash.String())
		}
		return nil
	})
	stop()
	if err := <-followed; err != nil {
		t.Error(err)
	}
	ours, err1 := log.Files()
	theirs, err2 := leader.Files()
	same := slices.EqualFunc(ours, theirs, func(a, b store.File) bool { return a.First == b.First && a.End == b.End })
	if err1 != nil || err2 != nil || !same {
		t.Errorf("files %v, %v; the leader's %v, %v", ours, err1, theirs, err2)
	}
}

// verified closes a log and verifies it.
func verified(t *testing.T, dir string, log *boltlog.Log) {
	t.Helper()
	head := log.Head()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if report, err := boltlog.Verify(t.Context(), dir, nil); err != nil || report.Head != head {
		t.Errorf("the log ends with %+v, %v; want %+v", report.Head, err, head)
	}
}

// TestANewReplicaComesFromAnother: of a stream that no longer has the beginning of the log. One that was interrupted
// goes on with the files that are whole, and one file that is not comes again.
func TestANewReplicaComesFromAnother(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	a, first, w := led(t, config(t, server))
	cut(t, server)

	c := config(t, server)
	own := replicating.Own{Lease: a.Named(), LogOf: a.LogID()}
	half, err := boltlog.Fill(c.Dir, a.LogID())
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(c.Dir, boltlog.FileName(1))
	if err := errors.Join(os.WriteFile(damaged, []byte("half of it"), 0o600), half.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := boltlog.Open(c.Dir, store.Options{}); !errors.Is(err, boltlog.ErrRestoring) {
		t.Errorf("a log of which half has come is opened with %v", err)
	}
	b, second := filled(t, c, own)
	grow(t, w, first, 4)
	follows(t, b, second, first)
	verified(t, c.Dir, second)
}

// TestALateReplicaFetchesRecords that the stream no longer has, over the ends of files.
func TestALateReplicaFetchesRecords(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	a, first, w := led(t, config(t, server))
	c, own := config(t, server), replicating.Own{Lease: a.Named(), LogOf: a.LogID()}
	b, second := filled(t, c, own)
	follows(t, b, second, first)
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	b.Close()
	grow(t, w, first, 5)
	cut(t, server)
	own.LogID = a.LogID()
	b, second = filled(t, c, own)
	grow(t, w, first, 6)
	follows(t, b, second, first)
	verified(t, c.Dir, second)
}

// TestADamagedFileIsReplaced by that of another replica, and read again.
func TestADamagedFileIsReplaced(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	a, first, _ := led(t, config(t, server))
	c := config(t, server)
	b, second := filled(t, c, replicating.Own{Lease: a.Named(), LogOf: a.LogID()})
	follows(t, b, second, first)
	path := filepath.Join(c.Dir, boltlog.FileName(1))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := slices.Clone(whole)
	for i := len(bad) / 4; i < len(bad)/2; i++ {
		bad[i] ^= 0xff
	}
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	if at, _, err := second.Scrub(ctx, 0); at != 1 || !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("the damage is found as %d, %v", at, err)
	}
	natstest.Eventually(t, "it is replaced", func() error { return b.Mend(ctx, 1) })
	if _, _, err := second.Scrub(ctx, 0); err != nil {
		t.Errorf("behind that it is damaged: %v", err)
	}
	n := events.Sequence(0)
	for r, err := range second.Read(ctx, 0) {
		if n++; err != nil || r.Sequence != n {
			t.Fatalf("record %d is read as %d, %v", n, r.Sequence, err)
		}
	}
	verified(t, c.Dir, second)
}

// TestTheLeaderCutsTheStream once another replica has what is cut, and not before. Who comes later gets that from a
// replica, and the next leader goes on.
func TestTheLeaderCutsTheStream(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	c := config(t, server)
	alone := &until{text: "only other copy", then: func() {}}
	c.Members, c.CutEvery, c.Logger = 2, time.Millisecond, slog.New(slog.NewTextHandler(alone, nil))
	a, first, w := led(t, c)
	begins := func() uint64 {
		ctx, cancel := patience.Context(t.Context())
		defer cancel()
		s, err := stream.Open(ctx, server.JetStream(stream.Options()...), "log")
		if err != nil {
			t.Fatal(err)
		}
		place, err := s.First(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return place
	}
	natstest.Eventually(t, "it is said that the stream is the only other copy", func() error {
		if !alone.was.Load() {
			return errors.New("it is not")
		}
		return nil
	})
	if place := begins(); place != 1 {
		t.Fatalf("without another replica it was cut before place %d", place)
	}
	own := replicating.Own{Lease: a.Named(), LogOf: a.LogID()}
	b, second := filled(t, config(t, server), own)
	exchanges(t, b)
	follows(t, b, second, first)
	cutAt := uint64(1)
	natstest.Eventually(t, "it is cut", func() error {
		w.Durable(storetest.Pod("job-c", 1)) // a message at which it may be
		if cutAt = begins(); cutAt == 1 {
			return errors.New("it is not cut")
		}
		return nil
	})
	e := config(t, server)
	third, log := filled(t, e, own)
	follows(t, third, log, first)
	leads(t, third, 2)
	storetest.NewWriter(t, third.Log(log)).Durable(storetest.Pod("job-d", 1))
	follows(t, b, second, log)
	verified(t, e.Dir, log)
}

// TestAReplicaWithAnotherHistoryGivesNothing: the stream continues a record that it has otherwise. Nothing of it gets
// into the directory.
func TestAReplicaWithAnotherHistoryGivesNothing(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	a, first, _ := led(t, config(t, server))
	cut(t, server)
	if err := first.Close(); err != nil { // it gives nothing any more
		t.Fatal(err)
	}
	forged, err := boltlog.Open(t.TempDir(), store.Options{LogID: a.LogID(), RotateBytes: smallFiles.RotateBytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = forged.Close() })
	w := storetest.NewWriter(t, forged)
	w.Create()
	w.Durable(storetest.Pod("job-other", 1))
	grow(t, w, forged, 4)
	gives(t, server, a, forged)

	ctx, stop := patience.Context(t.Context())
	defer stop()
	c := config(t, server)
	heard := &until{text: store.ErrDiverged.Error(), then: stop}
	c.Logger = slog.New(slog.NewTextHandler(heard, nil))
	b, err := join(t, c, replicating.Own{Lease: a.Named(), LogOf: a.LogID()})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Fill(ctx, c.Dir); !errors.Is(err, context.Canceled) || !heard.was.Load() {
		t.Errorf("it ends with %v", err)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, boltlog.FileName(1))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file of it: %v", err)
	}
}

// gives lets a log answer as a replica of that member's.
func gives(t *testing.T, server *natstest.Server, m *replicating.Member, log *boltlog.Log) {
	t.Helper()
	x, err := exchange.New(exchange.Config{
		Conn: server.JetStream().Conn(), Stream: "log", LogID: m.LogID(), Replica: "forged", Key: &events.Key{7},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { // ends with stop
		ended <- x.Run(ctx, log, func() exchange.Head { return exchange.Head{Epoch: 1, Head: log.Head(), First: 1} })
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// until calls then when a text is written.
type until struct {
	text string
	then func()
	was  atomic.Bool
}

func (u *until) Write(p []byte) (int, error) {
	if strings.Contains(string(p), u.text) {
		u.was.Store(true)
		u.then()
	}
	return len(p), nil
}
