package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/store"
)

func waits(t *testing.T, open Open) {
	log, _ := open(t)
	w := NewWriter(t, log)
	w.Create()
	if got, err := log.Wait(ctx, 0); got != 1 || err != nil {
		t.Errorf("wait for what is there: %d, error %v, want 1", got, err)
	}
	type result struct {
		head events.Sequence
		err  error
	}
	results := make(chan result, 1)
	go func() {
		head, err := log.Wait(ctx, 1)
		results <- result{head, err}
	}()
	w.Append(false, Pod("job-a", 1), Pod("job-a", 2))
	select {
	case got := <-results:
		if got.head != 3 || got.err != nil {
			t.Errorf("wait: %d, error %v, want 3", got.head, got.err)
		}
	case <-time.After(patience.Time()):
		t.Error("wait did not return when the head moved")
	}
}

func waitEnds(t *testing.T, open Open) {
	log, _ := open(t)
	NewWriter(t, log).Create()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err := log.Wait(cancelled, 1)
	wantError(t, "wait with an ended context", err, context.Canceled)
	ended := make(chan error, 1)
	go func() {
		_, err := log.Wait(ctx, 1)
		ended <- err
	}()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		wantError(t, "wait when the log closes", err, store.ErrClosed)
	case <-time.After(patience.Time()):
		t.Error("wait did not return when the log closed")
	}
}

func offsets(t *testing.T, open Open) {
	log, reopen := open(t)
	w := NewWriter(t, log)
	w.Create()
	for _, set := range []struct {
		consumer string
		through  events.Sequence
	}{{"nats", 1}, {"kube", 1}} {
		if err := log.SetOffset(set.consumer, set.through); err != nil {
			t.Fatal(err)
		}
	}
	fill(w, 200) // fill several files: the offset of kube, which is set only once, must be found in later files, too
	if err := log.SetOffset("nats", 17); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		for consumer, want := range map[string]events.Sequence{"nats": 17, "kube": 1, "other": 0} {
			if got, err := log.Offset(consumer); got != want || err != nil {
				t.Errorf("offset of %s %s: %d, error %v, want %d", consumer, when, got, err, want)
			}
		}
	}
	check("at once")
	log = reopen() // no batch was appended after SetOffset, so only Close can have stored the offset
	check("after reopening")
	fill(NewWriter(t, log), 200)
	log = reopen()
	check("after more files")
}

func snapshot(log store.Log, state string) store.Snapshot {
	return store.Snapshot{
		Identity: log.Identity(), Head: log.Head(),
		Streams: []store.StreamSnapshot{
			{Stream: events.JobStream("job-a"), AsOf: 3, State: []byte(state), Names: []byte("names of " + state)},
			{Stream: events.Controller, AsOf: 1, State: []byte{0, 1, 2}},
		},
	}
}

func snapshots(t *testing.T, open Open) {
	log, reopen := open(t)
	w := NewWriter(t, log)
	w.Create()
	var want store.Snapshot
	for _, state := range []string{"one", "two", "three", "four"} {
		fill(w, 60)
		want = snapshot(log, state)
		if err := log.SaveSnapshot(ctx, want); err != nil {
			t.Fatal(err)
		}
		fill(w, 20)
		checkSnapshot(t, log, want)
	}
	checkSnapshot(t, reopen(), want)
}

func checkSnapshot(t *testing.T, log store.Log, want store.Snapshot) {
	t.Helper()
	got, ok, err := log.LoadSnapshot(ctx)
	if !ok || err != nil {
		t.Fatalf("load snapshot: %v, error %v, want one", ok, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("snapshot (-want +got):\n%s", diff)
	}
}

func foreignSnapshots(t *testing.T, open Open) {
	log, _ := open(t)
	w := NewWriter(t, log)
	w.Create()
	fill(w, 30)
	spoil := map[string]func(*store.Snapshot){
		"another log":    func(s *store.Snapshot) { s.Identity.LogID += "x" },
		"another epoch":  func(s *store.Snapshot) { s.Identity.Epoch++ },
		"another chain":  func(s *store.Snapshot) { s.Head.Hash[3]++ },
		"beyond the log": func(s *store.Snapshot) { s.Head.Sequence++ },
	}
	for name, spoil := range spoil {
		s := snapshot(log, "foreign")
		spoil(&s)
		if err := log.SaveSnapshot(ctx, s); err == nil {
			t.Errorf("a snapshot of %s was saved, want an error", name)
		}
	}
	if err := log.SaveSnapshot(ctx, snapshot(log, "good")); err != nil {
		t.Fatal(err)
	}
	w.Durable(epoch(2))
	if _, ok, err := log.LoadSnapshot(ctx); ok || err != nil {
		t.Errorf("the snapshot of the last epoch: %v, error %v, want it ignored", ok, err)
	}
}

func continues(t *testing.T, open Open) {
	log, reopen := open(t)
	w := NewWriter(t, log)
	w.Create()
	all := append(collect(t, log.Read(ctx, 0)), fill(w, 50)...)
	for range 3 {
		log = reopen()
		all = append(all, fill(NewWriter(t, log), 50)...)
	}
	equal(t, "read", collect(t, log.Read(ctx, 0)), all)
	if got, want := log.Head().Hash, chain(t, all); got != want {
		t.Errorf("chain value %s, want %s", got, want)
	}
	checkStreams(t, log, all)
}

func closeCommits(t *testing.T, open Open) {
	log, reopen := open(t)
	w := NewWriter(t, log)
	w.Create()
	var commits []store.Commit
	for n := range 50 {
		commits = append(commits, w.Append(false, Pod("job-a", n)))
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range commits {
		Await(t, c)
	}
	if got := reopen().Head().Sequence; got != 51 {
		t.Errorf("head after reopening %d, want 51", got)
	}
}

func afterClose(t *testing.T, open Open) {
	log, _ := open(t)
	w := NewWriter(t, log)
	w.Create()
	b := w.Batch(Pod("job-a", 1))
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	wantError(t, "append", Outcome(t, log.Append(b, true)), store.ErrClosed)
	wantError(t, "room", log.Room(1), store.ErrClosed)
	_, err := log.Wait(ctx, 1)
	wantError(t, "wait", err, store.ErrClosed)
	_, err = firstError(log.Read(ctx, 0))
	wantError(t, "read", err, store.ErrClosed)
	_, err = firstError(log.ReadStream(ctx, events.Controller, 0, store.Forward))
	wantError(t, "read stream", err, store.ErrClosed)
	_, err = log.Find("default", "demo")
	wantError(t, "find", err, store.ErrClosed)
	_, err = log.Offset("nats")
	wantError(t, "offset", err, store.ErrClosed)
	wantError(t, "set offset", log.SetOffset("nats", 1), store.ErrClosed)
	wantError(t, "save snapshot", log.SaveSnapshot(ctx, store.Snapshot{}), store.ErrClosed)
	_, _, err = log.LoadSnapshot(ctx)
	wantError(t, "load snapshot", err, store.ErrClosed)
}
