package memlog_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

var identity = events.Identity{LogID: "0123456789abcdef0123456789abcdef", Epoch: 1}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (store.Log, func() store.Log) {
		log := memlog.New(identity, memlog.FileBytes(16<<10))
		t.Cleanup(func() { log.Close() })
		return log, func() store.Log {
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			appended, _ := log.Batches()
			log = log.Crash(appended)
			return log
		}
	})
}

func TestManualDurability(t *testing.T) {
	log := memlog.New(identity, memlog.Manual())
	w := storetest.NewWriter(t, log)
	first := w.Append(true, storetest.Created(identity))
	second := w.Append(true, storetest.Pod("job-a", 1), storetest.Pod("job-a", 2))
	third := w.Append(true, storetest.Pod("job-a", 3))
	if log.Head().Sequence != 0 || done(first) {
		t.Fatal("a batch is durable before Commit")
	}
	if n := log.Commit(2); n != 2 || log.Head().Sequence != 3 || !done(first) || !done(second) || done(third) {
		t.Fatalf("after Commit(2): %d batches, head %d, want 2 and 3", n, log.Head().Sequence)
	}
	if n := log.Commit(5); n != 1 || !done(third) {
		t.Fatalf("Commit(5) with one waiting made %d durable, want 1", n)
	}
}

func TestCrashKeepsAPrefix(t *testing.T) {
	log := memlog.New(identity, memlog.Manual(), memlog.FileBytes(500))
	w := storetest.NewWriter(t, log)
	w.Append(true, storetest.Created(identity))
	log.Commit(1)
	setOffset(t, log, 1)
	head := log.Head()
	if err := log.SaveSnapshot(context.Background(), store.Snapshot{Identity: identity, Head: head}); err != nil {
		t.Fatal(err)
	}
	next := []events.Sequence{1, log.NextFile()}
	for n := range 5 {
		w.Append(true, storetest.Pod("job-a", n), storetest.Job("uid", "default", "demo"))
		next = append(next, log.NextFile())
	}
	for keep := range 7 {
		c := log.Crash(keep)
		want := events.Sequence(max(0, 2*keep-1))
		if got := c.Head().Sequence; got != want {
			t.Errorf("crash with %d batches kept: head %d, want %d", keep, got, want)
		}
		if got := c.NextFile(); got != next[keep] {
			t.Errorf("crash with %d batches kept: next file %d, want %d", keep, got, next[keep])
		}
		wantOffset := events.Sequence(0)
		if keep >= 2 { // it became durable with the second batch
			wantOffset = 1
		}
		if got, _ := c.Offset("nats"); got != wantOffset {
			t.Errorf("crash with %d batches kept: offset %d, want %d", keep, got, wantOffset)
		}
		if _, ok, _ := c.LoadSnapshot(context.Background()); ok != (keep >= 1) {
			t.Errorf("crash with %d batches kept: snapshot %v, want %v", keep, ok, keep >= 1)
		}
		w := storetest.NewWriter(t, c) // reads all of it, and goes on
		if keep == 0 {
			w.Append(true, storetest.Created(identity))
		} else {
			w.Append(true, storetest.Pod("job-a", 9))
		}
		if n := c.Commit(1); n != 1 {
			t.Errorf("crash with %d batches kept: it does not continue", keep)
		}
	}
	if appended, durable := log.Batches(); appended != 6 || durable != 1 {
		t.Errorf("crashes changed the log itself: %d appended, %d durable", appended, durable)
	}
}

func setOffset(t *testing.T, log *memlog.Log, through events.Sequence) {
	t.Helper()
	if err := log.SetOffset("nats", through); err != nil {
		t.Fatal(err)
	}
}

func TestNoRoomAndRoomAgain(t *testing.T) {
	log := memlog.New(identity, memlog.Limit(1000))
	w := storetest.NewWriter(t, log)
	w.Create()
	if err := log.Room(500); err != nil {
		t.Fatalf("room for 500 of 1000 bytes: %v", err)
	}
	if err := log.Room(1000); !errors.Is(err, store.ErrNoRoom) {
		t.Errorf("room beyond the limit: %v, want ErrNoRoom", err)
	}
	w.Durable(storetest.Pod("job-a", 1)) // the log has not failed
	log.SetLimit(0)
	if err := log.Room(1000); err != nil {
		t.Errorf("room after the limit was lifted: %v", err)
	}
}

func done(c store.Commit) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}
