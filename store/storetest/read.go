package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

func readFrom(t *testing.T, open Open) {
	log, _ := open(t)
	w := NewWriter(t, log)
	w.Create()
	all := append(collect(t, log.Read(ctx, 0)), fill(w, 120)...)
	for from := 1; from <= len(all); from += 17 {
		equal(t, "read from the middle", collect(t, log.Read(ctx, events.Sequence(from))), all[from-1:])
	}
	if got := collect(t, log.Read(ctx, w.Next())); len(got) != 0 {
		t.Errorf("read from beyond the head gives %d records, want none", len(got))
	}
}

func readCancelled(t *testing.T, open Open) {
	log, _ := open(t)
	w := NewWriter(t, log)
	w.Create()
	fill(w, 50)
	ctx, cancel := context.WithCancel(ctx)
	n := 0
	for _, err := range log.Read(ctx, 0) {
		if err != nil {
			wantError(t, "read after cancelling", err, context.Canceled)
			break
		}
		if n++; n == 10 {
			cancel()
		}
	}
	if n < 10 || n > 11 {
		t.Errorf("read gave %d records, want it to end right after 10", n)
	}
	cancel()
}

func chainValues(t *testing.T, open Open) {
	log, reopen := open(t)
	w := NewWriter(t, log)
	w.Create()
	fill(w, 120)
	for range 2 {
		var want events.Hash
		check := func(at events.Sequence) {
			if got, err := log.Chain(at); err != nil || got != want {
				t.Fatalf("the chain value after record %d is %s (%v), want %s", at, got, err, want)
			}
		}
		check(0)
		for r, err := range log.Read(ctx, 0) {
			if err != nil {
				t.Fatal(err)
			}
			stored, err := events.AppendRecord(nil, &r)
			if err != nil {
				t.Fatal(err)
			}
			if want, err = want.Next(stored); err != nil {
				t.Fatal(err)
			}
			check(r.Sequence)
		}
		head := log.Head()
		check(head.Sequence)
		if head.Hash != want {
			t.Errorf("the head's chain value is %s, want %s", head.Hash, want)
		}
		if _, err := log.Chain(head.Sequence + 1); err == nil {
			t.Error("a record to come has a chain value")
		}
		log = reopen()
	}
}

func longReader(t *testing.T, open Open) {
	log, _ := open(t)
	w := NewWriter(t, log)
	w.Create()
	fill(w, 200)
	head := log.Head().Sequence
	want := events.Sequence(1)
	for r, err := range log.Read(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Sequence != want {
			t.Fatalf("record %d, want %d", r.Sequence, want)
		}
		if want == 3 || want == 300 {
			fill(w, 300) // this reader pauses until the 300 batches are durable
		}
		want++
	}
	if want <= head {
		t.Errorf("the reader ended after %d, the head was %d when it began", want-1, head)
	}
}

func concurrentReaders(t *testing.T, open Open) {
	log, _ := open(t)
	w := NewWriter(t, log)
	w.Create()
	var readers sync.WaitGroup
	const goal = 1500
	for n := range 4 {
		readers.Go(func() {
			if err := follow(log, events.Sequence(1+n*10), goal); err != nil {
				t.Errorf("reader %d: %v", n, err)
			}
		})
	}
	for n := 0; w.Next() <= goal; n++ {
		commit := w.Append(n%4 == 0, Pod("job-a", n), Pod("job-b", n), Pod("job-c", n))
		if n%50 == 0 {
			Await(t, commit)
		}
	}
	w.Durable(Pod("job-a", 1))
	readers.Wait()
}

// follow reads from record `from` on until it has seen record goal. It returns an error if a record is missing, or a
// read ends within a batch.
func follow(log store.Log, from, goal events.Sequence) error {
	next := from
	for next <= goal {
		if _, err := log.Wait(ctx, next-1); err != nil {
			return err
		}
		whole := false
		for r, err := range log.Read(ctx, next) {
			switch {
			case err != nil:
				return err
			case r.Sequence != next:
				return errors.New("there is a gap")
			}
			next, whole = next+1, r.Last
		}
		if !whole {
			return errors.New("the read ended within a batch")
		}
	}
	return nil
}

func streams(t *testing.T, open Open) {
	log, reopen := open(t)
	w := NewWriter(t, log)
	w.Create()
	all := append(collect(t, log.Read(ctx, 0)), fill(w, 400)...)
	for _, log := range []func() store.Log{func() store.Log { return log }, reopen} {
		checkStreams(t, log(), all)
	}
}

func checkStreams(t *testing.T, log store.Log, all []events.Record) {
	t.Helper()
	for _, s := range []events.Stream{events.Controller, events.JobStream("job-a"), events.JobStream("job-b"), events.JobStream("job-rare")} {
		var want []events.Record
		for _, r := range all {
			if r.Stream == s {
				want = append(want, r)
			}
		}
		equal(t, s.String()+" forwards", collect(t, log.ReadStream(ctx, s, 0, store.Forward)), want)
		back := slices.Clone(want)
		slices.Reverse(back)
		equal(t, s.String()+" backwards", collect(t, log.ReadStream(ctx, s, 0, store.Backward)), back)
		for _, i := range []int{0, len(want) / 3, len(want) - 1} {
			at := want[i].Sequence
			equal(t, "forwards from a record", collect(t, log.ReadStream(ctx, s, at, store.Forward)), want[i:])
			equal(t, "forwards from after it", collect(t, log.ReadStream(ctx, s, at+1, store.Forward)), want[i+1:])
			equal(t, "backwards from a record", collect(t, log.ReadStream(ctx, s, at, store.Backward)), back[len(back)-1-i:])
		}
	}
}

func unknownStream(t *testing.T, open Open) {
	log, _ := open(t)
	w := NewWriter(t, log)
	w.Create()
	fill(w, 100)
	for _, dir := range []store.Direction{store.Forward, store.Backward} {
		if got := collect(t, log.ReadStream(ctx, events.JobStream("nobody"), 0, dir)); len(got) != 0 {
			t.Errorf("direction %d: %d records, want none", dir, len(got))
		}
	}
	if got, err := log.Find("default", "nobody"); len(got) != 0 || err != nil {
		t.Errorf("find: %v, error %v, want none", got, err)
	}
}

func find(t *testing.T, open Open) {
	log, reopen := open(t)
	w := NewWriter(t, log)
	w.Create()
	w.Durable(Job("uid-1", "default", "demo"), Job("uid-x", "other", "demo"))
	fill(w, 150)
	w.Durable(Job("uid-2", "default", "demo"))
	fill(w, 150)
	again := Job("uid-1", "default", "demo")
	again.Kind = events.KindJobDeleted
	again.Facts = &events.JobGone{Version: 9}
	w.Durable(again, Job("uid-3", "default", "demo"))
	want := []events.Stream{events.JobStream("uid-3"), events.JobStream("uid-2"), events.JobStream("uid-1")}
	for _, log := range []func() store.Log{func() store.Log { return log }, reopen} {
		got, err := log().Find("default", "demo")
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("find default/demo: %v, error %v, want %v", got, err, want)
		}
	}
}
