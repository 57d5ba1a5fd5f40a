package takeover_test

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
	"github.com/jobledger/jobledger/store/natslog/takeover"
	"github.com/jobledger/jobledger/store/storetest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

var key = events.Hash{7}

// process has a log of its own, a follower and a line that has not claimed.
type process struct {
	t      *testing.T
	dir    string
	bolt   *boltlog.Log
	log    *line.Log
	config takeover.Config
}

// began is a process with the log in dir. It holds the Lease.
func began(t *testing.T, s *stream.Stream, dir, logID string) *process {
	t.Helper()
	l := line.New(line.Config{Stream: s, Key: key})
	bolt, err := boltlog.Open(dir, store.Options{LogID: logID, Before: l.Before})
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, dir: dir, bolt: bolt, log: line.Of(bolt, l)}
	t.Cleanup(func() { _ = bolt.Close() }) // that of a fenced one fails
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	f, err := replica.Begin(ctx, s, bolt, events.ReaderVersion{})
	if err != nil {
		t.Fatal(err)
	}
	p.config = takeover.Config{Stream: s, Follower: f, Line: l, Log: bolt, Holds: func() bool { return true }}
	return p
}

// take takes over, and runs the line when that went well.
func (p *process) take() (uint64, error) {
	p.t.Helper()
	ctx, cancel := patience.Context(p.t.Context())
	defer cancel()
	term, err := takeover.Take(ctx, p.config)
	if err != nil {
		return 0, err
	}
	running, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		_ = p.config.Line.Run(running) // a fenced line says so to who appends
	}()
	p.t.Cleanup(func() { stop(); <-ended })
	return term, nil
}

func (p *process) leads(want uint64) {
	p.t.Helper()
	if term, err := p.take(); err != nil || term != want || p.bolt.Term() != want {
		p.t.Fatalf("it leads in term %d (its log: %d), %v; want %d", term, p.bolt.Term(), err, want)
	}
}

// two are a leader with three records and a standby of the same log, which has not read anything.
func two(t *testing.T) (a, b *process, w *storetest.Writer) {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	js := natstest.NewServer(t, natstest.Inside).Start().JetStream(stream.Options()...)
	s, err := stream.Make(ctx, js, stream.Config{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	a = began(t, s, t.TempDir(), "")
	a.leads(1)
	w = storetest.NewWriter(t, a.log)
	w.Create()
	w.Durable(storetest.Pod("job-a", 1), storetest.Pod("job-a", 2))
	return a, began(t, s, t.TempDir(), a.bolt.Identity().LogID), w
}

func (p *process) newest() uint64 {
	p.t.Helper()
	ctx, cancel := patience.Context(p.t.Context())
	defer cancel()
	place, err := p.config.Stream.Newest(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	return place
}

// TestAStandbyTakesOver: the old leader's next batch is on no disk, and both logs are one chain.
func TestAStandbyTakesOver(t *testing.T) {
	a, b, w := two(t)
	b.leads(2)
	if a.bolt.Head() != b.bolt.Head() {
		t.Fatalf("the new leader begins behind %+v, the old one ended with %+v", b.bolt.Head(), a.bolt.Head())
	}
	storetest.NewWriter(t, b.log).Durable(storetest.Pod("job-a", 3))
	head := a.bolt.Head()
	if err := storetest.Outcome(t, w.Append(true, storetest.Pod("job-a", 4))); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the old leader's batch: %v, want %v", err, store.ErrFenced)
	}
	if a.bolt.Head() != head {
		t.Errorf("the old leader's log ends with %+v, want %+v", a.bolt.Head(), head)
	}
}

// TestATermIsReleased: readers of the stream see it, nothing of the old leader comes behind it, and the next one has
// the offsets of its consumers.
func TestATermIsReleased(t *testing.T) {
	a, b, w := two(t)
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	if err := a.bolt.SetOffset("consumer", 2); err != nil {
		t.Fatal(err)
	}
	w.Durable(storetest.Pod("job-a", 3))
	if err := a.config.Line.Release(ctx, a.bolt.Identity(), a.bolt.Head()); err != nil {
		t.Fatal(err)
	}
	f := b.config.Follower
	if err := f.Through(ctx, a.newest()); err != nil || !f.State().Released || f.State().Head != a.bolt.Head() {
		t.Errorf("behind the release the stream amounts to %+v, %v", f.State(), err)
	}
	if err := storetest.Outcome(t, w.Append(true, storetest.Pod("job-a", 4))); err == nil {
		t.Error("a batch behind the release is durable")
	}
	b.leads(2)
	if through, err := b.bolt.Offset("consumer"); err != nil || through != 2 {
		t.Errorf("the consumer is through record %d, %v; want 2", through, err)
	}
	if a.bolt.Head() != b.bolt.Head() || f.State().Released {
		t.Errorf("the new leader begins behind %+v, the old one ended with %+v", b.bolt.Head(), a.bolt.Head())
	}
}

// TestNothingIsClaimedWithoutTheLease: neither at the beginning, nor when it is lost while the stream is read.
func TestNothingIsClaimedWithoutTheLease(t *testing.T) {
	for held := range 2 {
		a, b, w := two(t)
		before, asked := a.newest(), 0
		b.config.Holds = func() bool { asked++; return asked <= held }
		if _, err := b.take(); !errors.Is(err, takeover.ErrNotHeld) {
			t.Errorf("held %d times: %v, want %v", held, err, takeover.ErrNotHeld)
		}
		if after := a.newest(); after != before {
			t.Errorf("held %d times: the stream ends at place %d, want %d", held, after, before)
		}
		w.Durable(storetest.Pod("job-a", 3)) // the leader leads on
	}
}

// TestALeaseThatWasLostWhileClaimingLeadsNot: the claim has ended the old term, and the next process leads
// in a later one.
func TestALeaseThatWasLostWhileClaimingLeadsNot(t *testing.T) {
	a, b, w := two(t)
	asked := 0
	b.config.Holds = func() bool { asked++; return asked <= 2 }
	if _, err := b.take(); !errors.Is(err, takeover.ErrNotHeld) {
		t.Errorf("%v, want %v", err, takeover.ErrNotHeld)
	}
	if err := storetest.Outcome(t, w.Append(true, storetest.Pod("job-a", 3))); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the old leader's batch: %v, want %v", err, store.ErrFenced)
	}
	c := began(t, b.config.Stream, t.TempDir(), a.bolt.Identity().LogID)
	c.leads(3)
}

// TestRecordsThatComeBeforeTheClaimAreOnTheDiskOfWhoClaims: the old leader appends after the standby read the end.
func TestRecordsThatComeBeforeTheClaimAreOnTheDiskOfWhoClaims(t *testing.T) {
	a, b, w := two(t)
	asked := 0
	b.config.Holds = func() bool {
		if asked++; asked == 2 || asked == 3 { // right before the first claim, and before the second one
			w.Durable(storetest.Pod("job-a", 2+asked))
		}
		return true
	}
	b.leads(2)
	if asked != 5 { // at the beginning, before each of three claims, at the end
		t.Errorf("the Lease was looked at %d times, want 5", asked)
	}
	if a.bolt.Head() != b.bolt.Head() {
		t.Errorf("the new leader begins behind %+v, the old one ended with %+v", b.bolt.Head(), a.bolt.Head())
	}
}

// TestAStreamWithLessThanTheDiskIsNotClaimed: one that is made anew under the name is, with Begins alone.
func TestAStreamWithLessThanTheDiskIsNotClaimed(t *testing.T) {
	a, _, _ := two(t)
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	js := natstest.NewServer(t, natstest.Inside).Start().JetStream(stream.Options()...)
	s, err := stream.Make(ctx, js, stream.Config{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.bolt.Close(); err != nil {
		t.Fatal(err)
	}
	again := began(t, s, a.dir, "")
	again.config.Back = 1
	if _, err := again.take(); !errors.Is(err, takeover.ErrLess) {
		t.Errorf("%v, want %v", err, takeover.ErrLess)
	}
	if place, err := s.Newest(ctx); err != nil || place != 0 {
		t.Errorf("the stream ends at place %d, %v", place, err)
	}
	again.config.Begins = true
	again.leads(2)
}

// TestAnotherKeyEndsAFollower: before it takes anything of who has it.
func TestAnotherKeyEndsAFollower(t *testing.T) {
	_, b, _ := two(t)
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	f := b.config.Follower.(*replica.Follower)
	f.Expect(events.Hash{8})
	if err := f.Through(ctx, b.newest()); !errors.Is(err, store.ErrOtherKey) || f.Place() != 0 || b.bolt.Head().Sequence != 0 {
		t.Errorf("%v at place %d, with %d records; want %v", err, f.Place(), b.bolt.Head().Sequence, store.ErrOtherKey)
	}
	f.Expect(key)
	if err := f.Through(ctx, b.newest()); err != nil || f.Place() != b.newest() {
		t.Errorf("with the right key: %v at place %d", err, f.Place())
	}
}

// deaf is a follower that reads nothing from some call on, as if the stream had nothing there.
type deaf struct {
	takeover.Follower
	calls int
}

func (d *deaf) Through(ctx context.Context, place uint64) error {
	if d.calls--; d.calls < 0 {
		return nil
	}
	return d.Follower.Through(ctx, place)
}

// TestAClaimThatDoesNotComeBackBeginsNoTerm: the acknowledgement alone proves nothing of what readers will find.
func TestAClaimThatDoesNotComeBackBeginsNoTerm(t *testing.T) {
	_, b, _ := two(t)
	b.config.Follower = &deaf{Follower: b.config.Follower, calls: 1}
	if _, err := b.take(); !errors.Is(err, takeover.ErrUndelivered) {
		t.Errorf("%v, want %v", err, takeover.ErrUndelivered)
	}
}
