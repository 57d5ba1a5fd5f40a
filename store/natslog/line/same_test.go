package line_test

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// sameLog checks that a follower makes of the stream what the leader, which has ended, has on its disk: records, chain,
// files, streams, names, and the states that they fold to.
func sameLog(t testing.TB, p *leader) {
	t.Helper()
	want, err := boltlog.Open(p.dir, small)
	if err != nil {
		t.Fatal(err)
	}
	defer close1(t, want)
	options := small
	options.LogID = want.Identity().LogID
	got, err := boltlog.Open(t.TempDir(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer close1(t, got)
	follow(t, p.s, got)
	if got.Head() != want.Head() || got.Identity() != want.Identity() {
		t.Fatalf("the follower ends with %+v of %s, the leader with %+v of %s",
			got.Head(), got.Identity(), want.Head(), want.Identity())
	}
	theirs, ours := all(t, want.Read(context.Background(), 0)), all(t, got.Read(context.Background(), 0))
	if !reflect.DeepEqual(ours, theirs) {
		t.Errorf("the follower has other records than the leader: %d and %d", len(ours), len(theirs))
	}
	streams := map[events.Stream]bool{}
	for _, r := range theirs {
		streams[r.Stream] = true
		h1, err1 := want.Chain(r.Sequence)
		h2, err2 := got.Chain(r.Sequence)
		if err := errors.Join(err1, err2); err != nil || h1 != h2 {
			t.Fatalf("behind record %d the chain is %s, the leader's %s; %v", r.Sequence, h2, h1, err)
		}
	}
	for s := range streams {
		a := want.ReadStream(context.Background(), s, 0, store.Backward)
		b := got.ReadStream(context.Background(), s, 0, store.Backward)
		if !reflect.DeepEqual(all(t, a), all(t, b)) {
			t.Errorf("stream %v has other records than the leader's", s)
		}
	}
	sameFiles(t, got, want)
	if !reflect.DeepEqual(folded(ours), folded(theirs)) {
		t.Error("the follower's records fold to other states")
	}
}

// sameFiles: a file begins where the leader's did.
func sameFiles(t testing.TB, got, want *boltlog.Log) {
	t.Helper()
	ours, err1 := got.Files()
	theirs, err2 := want.Files()
	same := slices.EqualFunc(ours, theirs, func(a, b store.File) bool { return a.First == b.First && a.End == b.End })
	if err1 != nil || err2 != nil || !same {
		t.Errorf("files %v, %v; the leader's %v, %v", ours, err1, theirs, err2)
	}
}

// folded is the state of each stream, in stored form.
func folded(records []events.Record) map[events.Stream]string {
	w := projector.NewWorld()
	for i := range records {
		w.Apply(&records[i])
	}
	out := map[events.Stream]string{events.Controller: string(w.ControllerState())}
	for _, s := range w.Streams() {
		facts, names, ok := w.StreamState(s)
		if ok {
			out[s] = string(facts) + "\x00" + string(names)
		}
	}
	return out
}

func all(t testing.TB, seq iter.Seq2[events.Record, error]) (out []events.Record) {
	t.Helper()
	for r, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func close1(t testing.TB, log *boltlog.Log) {
	t.Helper()
	if err := log.Close(); err != nil {
		t.Error(err)
	}
}
