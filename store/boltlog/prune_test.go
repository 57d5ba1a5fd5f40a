package boltlog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

func prunedItem(first events.Sequence) storetest.Item {
	return storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: &events.Pruned{First: first}}
}

func TestPrune(t *testing.T) {
	dir, all := written(t, 600)
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	before := len(files(t, dir, ".db"))
	middle := events.Sequence(len(all) / 2)
	keep, err := log.Prunable(middle)
	if err != nil || keep <= 1 || keep > middle {
		t.Fatalf("prunable before %d: %d, error %v, want a file's beginning before it", middle, keep, err)
	}
	if _, err := log.Prune(t.Context(), middle); err == nil || log.First() != 1 {
		t.Fatalf("prune without a Pruned record: error %v, first %d; want an error, and nothing deleted", err, log.First())
	}
	w.Durable(prunedItem(keep))
	all = records(t, log)
	inside := log.Read(t.Context(), 0) // a reader that begins before and goes on after
	n := 0
	for r, err := range inside {
		if err != nil {
			if !errors.Is(err, store.ErrPruned) {
				t.Fatalf("a reader in a file that is pruned: %v, want ErrPruned", err)
			}
			break
		}
		if n++; r.Sequence == 2 {
			if got, err := log.Prune(t.Context(), middle); err != nil || got != keep {
				t.Fatalf("prune: first %d, error %v, want %d", got, err, keep)
			}
		}
	}
	if n == len(all) {
		t.Error("the reader read pruned files to the end: nothing was deleted under it")
	}
	for range 2 {
		checkPruned(t, log, all, keep)
		if after := len(files(t, dir, ".db")); after >= before {
			t.Errorf("%d files after pruning, %d before", after, before)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		report, err := boltlog.Verify(context.Background(), dir, nil)
		if err != nil || report.First != keep || report.Records != uint64(len(all))-uint64(keep)+1 {
			t.Errorf("verify: %+v, error %v, want the records from %d on", report, err, keep)
		}
		log = openLog(t, dir, small)
	}
	if got, err := log.Prune(t.Context(), 3); err != nil || got != keep {
		t.Errorf("prune what is pruned: first %d, error %v, want %d", got, err, keep)
	}
}

func checkPruned(t *testing.T, log *boltlog.Log, all []events.Record, keep events.Sequence) {
	t.Helper()
	if got := log.First(); got != keep {
		t.Errorf("first %d, want %d", got, keep)
	}
	got := records(t, log)
	if len(got) == 0 || got[0].Sequence != keep || got[len(got)-1].Sequence != events.Sequence(len(all)) {
		t.Errorf("%d records are left, want those from %d to %d", len(got), keep, len(all))
	}
	for _, err := range log.Read(t.Context(), 1) {
		if !errors.Is(err, store.ErrPruned) || errors.Is(err, store.ErrCorrupt) {
			t.Errorf("read from record 1: %v, want ErrPruned", err)
		}
	}
	stream := events.JobStream("job-a")
	forward := 0
	for r, err := range log.ReadStream(t.Context(), stream, 0, store.Forward) {
		if err != nil || r.Sequence < keep {
			t.Fatalf("stream forwards: record %d, error %v", r.Sequence, err)
		}
		forward++
	}
	backward := 0
	var end error
	for _, err := range log.ReadStream(t.Context(), stream, 0, store.Backward) {
		if end = err; err == nil {
			backward++
		}
	}
	if !errors.Is(end, store.ErrPruned) || backward != forward || forward == 0 {
		t.Errorf("stream backwards: %d records and %v, want the %d that are left and ErrPruned", backward, end, forward)
	}
}

// TestAFileThatCannotBeRemovedIsPrunedOnce: the records of such a file are gone. The log does not count its bytes, so
// no other file is pruned for them. No later file is removed before it, which would leave a hole. It is removed as soon
// as that is possible.
func TestAFileThatCannotBeRemovedIsPrunedOnce(t *testing.T) {
	dir, all := written(t, 600)
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	names := files(t, dir, ".db")
	if len(names) < 4 {
		t.Fatalf("there are only %d files", len(names))
	}
	kept, err := log.Files()
	if err != nil {
		t.Fatal(err)
	}
	stuck, second := names[0], names[1]
	if err := errors.Join(os.Remove(stuck), os.MkdirAll(filepath.Join(stuck, "in it"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{1, 2} {
		w.Durable(prunedItem(kept[cut].First))
		before, _, err := log.Usage()
		if err != nil {
			t.Fatal(err)
		}
		if first, err := log.Prune(t.Context(), kept[cut].First); err == nil || first != kept[cut].First {
			t.Errorf("prune: first %d, %v; want %d, and an error", first, err, kept[cut].First)
		}
		after, _, err := log.Usage()
		want := before - []int64{0, 0, kept[1].Bytes}[cut]
		if err != nil || after != want {
			t.Errorf("after the cut at file %d the log has %d bytes, %v; want %d", cut, after, err, want)
		}
		if _, err := os.Stat(second); err != nil {
			t.Errorf("the file behind it is gone: %v", err)
		}
	}
	if err := os.RemoveAll(stuck); err != nil {
		t.Fatal(err)
	}
	if first, err := log.Prune(t.Context(), 0); err != nil || first != kept[2].First {
		t.Errorf("prune again: first %d, %v", first, err)
	}
	if left := files(t, dir, ".db"); len(left) != len(names)-2 {
		t.Errorf("%d files are left of %d", len(left), len(names))
	}
	for _, r := range records(t, log) {
		if r.Sequence < kept[2].First {
			t.Errorf("record %d is still read", r.Sequence)
		}
	}
	if len(all) < int(kept[2].First) {
		t.Error("nothing is left")
	}
}
