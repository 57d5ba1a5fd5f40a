package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/examples"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// written opens a log in a directory, lets fn write, and closes it.
func written(t *testing.T, dir string, fn func(log *boltlog.Log)) {
	t.Helper()
	log, err := boltlog.Open(dir, smallFiles)
	if err != nil {
		t.Fatal(err)
	}
	fn(log)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	trim(t, dir)
}

func makeMorning(t *testing.T, dir string) {
	written(t, dir, func(log *boltlog.Log) { morning(t, log) })
}

// makeKinds writes one record of each kind with every field set. The records are no real history.
func makeKinds(t *testing.T, dir string) {
	written(t, dir, func(log *boltlog.Log) {
		w := storetest.NewWriter(t, log)
		w.Create()
		all := examples.Facts()
		for _, kind := range slices.Sorted(maps.Keys(all)) {
			item := storetest.Item{Stream: events.JobStream("00000000-0000-4000-8000-000000000001"), Kind: kind, Facts: all[kind]}
			switch f := item.Facts.(type) {
			case *events.LogCreated:
				continue // is the first record
			case *events.EpochChanged:
				changed := *f
				changed.Epoch = 2
				item.Facts = &changed
			case *events.TermStarted:
				changed := *f
				changed.Previous = log.Head().Hash
				item.Facts = &changed
			case *events.ControllerStarted:
				changed := *f
				changed.Least = events.ReaderVersion{} // else no program may read it
				item.Facts = &changed
			}
			if kind == events.KindPodAdded {
				item.Evidence = *examples.Filled(&events.Evidence{})
				item.Evidence.Template = []byte(`{"spec":{}}`)
			}
			w.Durable(item)
		}
	})
}

// makePruned deletes the older files of a season.
func makePruned(t *testing.T, dir string) {
	makeSeason(t, dir, "", 24)
	pruneTo(t, dir, 2, 3)
}

// pruneTo deletes the files of a log before that part of its records.
func pruneTo(t *testing.T, dir string, part, of events.Sequence) {
	written(t, dir, func(log *boltlog.Log) {
		keep, err := log.Prunable(log.Head().Sequence * part / of)
		if err != nil {
			t.Fatal(err)
		}
		storetest.NewWriter(t, log).Durable(storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: &events.Pruned{First: keep}})
		if first, err := log.Prune(t.Context(), keep); err != nil || first == 1 {
			t.Fatalf("pruned to %d, %v", first, err)
		}
	})
}

// makeCrashed leaves a log as after a power cut during a commit: its pages are written, its meta page only in part.
func makeCrashed(t *testing.T, dir string) {
	before := filepath.Join(t.TempDir(), "log")
	written(t, before, func(log *boltlog.Log) {
		season(t, log, 6, nil)
		copyLog(t, before, dir)
		storetest.NewWriter(t, log).Durable(storetest.Pod("job-a", 1), storetest.Text("job-b", 5000))
	})
	trim(t, dir)
	all, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	tail := all[len(all)-1]
	was, err1 := os.ReadFile(tail)
	is, err2 := os.ReadFile(filepath.Join(before, filepath.Base(tail)))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for at := 0; at+boltPage <= min(len(was), len(is)); at += boltPage {
		if at >= 2*boltPage {
			copy(was[at:at+boltPage], is[at:])
		} else if newer := number(is[at:]); newer > number(was[at:]) {
			copy(was[at:at+40], is[at:])
		}
	}
	if err := os.WriteFile(tail, was, 0o600); err != nil {
		t.Fatal(err)
	}
}

// makeErased writes the morning with the evidence of every third record erased.
func makeErased(t *testing.T, dir string) {
	original := memlog.New(events.Identity{LogID: testLogID, Epoch: 1})
	morning(t, original)
	written(t, dir, func(log *boltlog.Log) {
		var batch events.Batch
		var last store.Commit
		for r, err := range original.Read(t.Context(), 0) {
			if err == nil && r.Sequence%3 == 0 {
				var stored []byte
				if stored, err = events.AppendRecord(nil, &r); err == nil {
					stored, err = events.EraseEvidence(stored)
				}
				if err == nil {
					r, err = events.DecodeRecord(stored)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if batch.Records = append(batch.Records, r); r.Last {
				last = log.Append(batch, true)
				storetest.Await(t, last)
				batch = events.Batch{}
			}
		}
	})
}

// makeEpochs lets a season's log go on in a second epoch.
func makeEpochs(t *testing.T, dir string) {
	makeSeason(t, dir, "", 6)
	written(t, dir, func(log *boltlog.Log) {
		w := storetest.NewWriter(t, log)
		w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindEpochChanged, Facts: &events.EpochChanged{Epoch: 2, Reason: 1}})
	})
}
