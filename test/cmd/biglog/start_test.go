package main

import (
	"context"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// startWithin limits the processor time that a start may fold, whatever the size of the log. One goroutine reads and
// folds, so on an idle machine the start takes as long.
const startWithin = 10 * time.Second

// TestALargeLogStartsFromAMarkedFile measures the fold of a start without a snapshot: it begins at the newest file that
// needs no earlier file. With JOBLEDGER_LONG the log has 10,000,000 records, and the time is judged. JOBLEDGER_BIGLOG
// names an existing log.
func TestALargeLogStartsFromAMarkedFile(t *testing.T) {
	dir, _, judged := bigLog(t, "--file-bytes", "1920000") // so that the small log has several files
	log, err := boltlog.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	began, before := time.Now(), sidebyside.Processor()
	world, err := loop.Recover(t.Context(), withoutSnapshot{log})
	if err != nil {
		t.Fatal(err)
	}
	took, computed := time.Since(began), sidebyside.Processor()-before
	_, alone := world.Restated()
	t.Logf("of %d records those from %d on were folded in %s of the processor, %s by the clock: %d Jobs, and %d that have retired", world.Head, alone, computed,
		took, world.Len(), world.Stubs())
	switch {
	case alone == 0:
		t.Error("no file stands alone")
	case judged && computed > startWithin:
		t.Errorf("the start folds for %s, more than %s", computed, startWithin)
	}
}

// withoutSnapshot is a log that has no snapshot.
type withoutSnapshot struct{ store.Log }

func (l withoutSnapshot) LoadSnapshot(context.Context) (store.Snapshot, bool, error) {
	return store.Snapshot{}, false, nil
}
