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
	"github.com/jobledger/jobledger/store/natslog"
	"github.com/jobledger/jobledger/store/natslog/replica"
	"github.com/jobledger/jobledger/store/natslog/stream"
	"github.com/jobledger/jobledger/store/natslog/takeover"
	"github.com/jobledger/jobledger/store/storetest"
)

// payload is the server's max_payload.
const payload = 128 << 10

// TestGroupsOfALogAreThoseOfItsWriter: from each end of a batch on, readers take them behind a claim there. A group
// ends with a file, and has about a message's bytes. One epoch ends among them.
func TestGroupsOfALogAreThoseOfItsWriter(t *testing.T) {
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	log, err := boltlog.Open(t.TempDir(), store.Options{RotateBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	before := map[events.Sequence]takeover.Base{0: {Identity: log.Identity()}}
	note := func() { before[log.Head().Sequence] = takeover.Base{Identity: log.Identity(), Head: log.Head()} }
	w := storetest.NewWriter(t, log)
	w.Create()
	note()
	for n := range 12 {
		w.Durable(storetest.Text("job-a", 20<<10), storetest.Pod("job-b", n), storetest.Text("job-c", 5000))
		note()
		if n == 5 {
			w.Durable(storetest.Item{
				Stream: events.Controller, Kind: events.KindEpochChanged,
				Facts: &events.EpochChanged{Epoch: 2, Reason: events.EpochRestored},
			})
			note()
		}
	}
	files, err := log.Files()
	if err != nil || len(files) < 3 {
		t.Fatalf("the log has %d files, %v", len(files), err)
	}
	for _, base := range before {
		claim, err := natslog.Encode(natslog.Segment{
			Kind: natslog.Claim, Identity: base.Identity, Term: 9, Writer: "w", Before: base.Head, After: base.Head, Key: key,
			Part: 1, Parts: 1,
		}, payload)
		if err != nil {
			t.Fatal(err)
		}
		state, v := natslog.Accept(natslog.State{}, 1, claim[0], events.ReaderVersion{})
		if v.Outcome != natslog.Taken {
			t.Fatalf("a claim behind record %d: %+v", base.Head.Sequence, v)
		}
		begun := 0
		for g, err := range takeover.Groups(ctx, log, base, log.Head().Sequence, events.ReaderVersion{}) {
			if err != nil {
				t.Fatal(err)
			}
			messages, err := natslog.Encode(natslog.GroupOf(g, 9, "w", key), payload)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range messages {
				if state, v = natslog.Accept(state, state.Place+1, m, events.ReaderVersion{}); v.Outcome == natslog.Void {
					t.Fatalf("behind record %d: %+v", g.Before.Sequence, v)
				}
			}
			if g.BeginsFile {
				begun++
			}
		}
		want := 0
		for _, f := range files {
			if f.First > base.Head.Sequence && f.First <= log.Head().Sequence {
				want++
			}
		}
		if state.Head != log.Head() || state.Identity != log.Identity() || begun != want {
			t.Errorf("behind record %d they end with %+v, want %+v; %d begin files, want %d",
				base.Head.Sequence, state.Head, log.Head(), begun, want)
		}
	}
	for _, err := range takeover.Groups(ctx, log, before[0], log.Head().Sequence+1, events.ReaderVersion{}) {
		if err != nil {
			return
		}
	}
	t.Error("a record that is to come is among them")
}

// TestAStreamThatEndsBeforeTheLogIsRefilled: the claim stands behind the end of the stream, and a reader of the whole
// stream has the whole log. If the Lease is lost meanwhile, nothing more is sent, and the next process goes on.
func TestAStreamThatEndsBeforeTheLogIsRefilled(t *testing.T) {
	a, _, _ := two(t)
	if err := a.bolt.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	js := natstest.NewServer(t, natstest.Inside).Start().JetStream(stream.Options()...)
	s, err := stream.Make(ctx, js, stream.Config{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	again := began(t, s, a.dir, "")
	id := again.bolt.Identity()
	var told events.StreamRefilled
	holds := true
	again.config.Holds = func() bool { return holds }
	again.config.Refills = func(f *events.StreamRefilled) error { told = *f; return nil }
	again.config.Step = func(step string) { holds = holds && step != takeover.Claimed }
	again.config.Short = short(id)
	if _, err := again.take(); !errors.Is(err, takeover.ErrNotHeld) {
		t.Fatalf("without the Lease: %v", err)
	}
	if told != (events.StreamRefilled{From: 1, Through: 3}) || again.newest() != 1 {
		t.Errorf("it refills %+v, and the stream ends at %d", told, again.newest())
	}
	if err := again.bolt.Close(); err != nil {
		t.Fatal(err)
	}
	next := began(t, s, a.dir, "")
	next.config.Refills, next.config.Step, next.config.Short = again.config.Refills, func(string) {}, short(id)
	if _, err := next.take(); err != nil {
		t.Fatal(err)
	}
	if told != (events.StreamRefilled{From: 1, Through: 3, Place: 1}) {
		t.Errorf("it refills %+v", told)
	}
	storetest.NewWriter(t, next.log).Durable(storetest.Pod("job-a", 3))
	reads := began(t, s, t.TempDir(), id.LogID)
	if err := reads.config.Follower.Through(ctx, next.newest()); err != nil || reads.bolt.Head() != next.bolt.Head() {
		t.Errorf("a reader ends with %+v, want %+v; %v", reads.bolt.Head(), next.bolt.Head(), err)
	}
}

// TestAFollowerNoticesThatItsStreamWentBack: another message stands in the place of the newest one that it read, or
// none. Void messages that are merely forged change nothing.
func TestAFollowerNoticesThatItsStreamWentBack(t *testing.T) {
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	js := natstest.NewServer(t, natstest.Inside).Start().JetStream(stream.Options()...)
	s, err := stream.Make(ctx, js, stream.Config{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	a := began(t, s, t.TempDir(), "")
	a.leads(1)
	w := storetest.NewWriter(t, a.log)
	w.Create()
	w.Durable(storetest.Pod("job-a", 1), storetest.Pod("job-a", 2))
	b := began(t, s, t.TempDir(), a.bolt.Identity().LogID)
	f := b.config.Follower.(*replica.Follower)
	same := func(want bool) {
		t.Helper()
		if is, err := f.Same(ctx); err != nil || is != want {
			t.Errorf("same is %t, %v", is, err)
		}
	}
	same(true)
	forged, err := natslog.Encode(natslog.Segment{
		Kind: natslog.Released, Identity: a.bolt.Identity(), Term: 7, Writer: "forged", Before: a.bolt.Head(),
		After: a.bolt.Head(), Key: key, Part: 1, Parts: 1,
	}, payload)
	if err != nil {
		t.Fatal(err)
	}
	newest := a.newest()
	if _, err := s.Send(ctx, newest, forged[0]); err != nil {
		t.Fatal(err)
	}
	if err := f.Through(ctx, newest+1); err != nil || f.State().Voids != 1 {
		t.Errorf("behind a forged message %+v, %v", f.State(), err)
	}
	same(true)
	if err := js.DeleteStream(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if s, err = stream.Make(ctx, js, stream.Config{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	same(false)
	for place := range newest + 1 {
		if _, err := s.Send(ctx, place, []byte("another one")); err != nil {
			t.Fatal(err)
		}
	}
	same(false)
	if _, err := s.Send(ctx, newest+1, forged[0]); err != nil {
		t.Fatal(err)
	}
	if err := f.Through(ctx, newest+2); !errors.Is(err, replica.ErrWentBack) {
		t.Errorf("behind a message of a later term it says %v", err)
	}
}

// short says that a stream with a claim goes on behind its end, and another one with the first record.
func short(id events.Identity) func(ctx context.Context, state natslog.State) (takeover.Base, error) {
	return func(_ context.Context, state natslog.State) (takeover.Base, error) {
		return takeover.Base{Identity: id, Head: state.Head}, nil
	}
}
