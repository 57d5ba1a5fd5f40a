package boltlog_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// TestVerifyBesideAControllerThatStarts: while the log is verified, a process begins to write it, and goes on or stops
// at once. Verify never reports damage, whenever that is. It uses what it read of the tail, reads it again, or leaves
// it out.
func TestVerifyBesideAControllerThatStarts(t *testing.T) {
	for _, split := range []bool{false, true} {
		for _, stays := range []bool{false, true} {
			for at := range 4 {
				besideStart(t, split, stays, at)
			}
		}
	}
}

// besideStart lets the process begin at the verification's progress report number at+1.
func besideStart(t *testing.T, split, stays bool, at int) {
	t.Helper()
	options := store.Options{RotateBytes: 1 << 20}
	if split {
		options.RotateBytes = 32 << 10
	}
	dir := t.TempDir()
	log := openLog(t, dir, options)
	w := storetest.NewWriter(t, log)
	w.Create()
	for n := range 60 {
		w.Durable(storetest.Pod("job-a", n), storetest.Text("job-c", 900))
	}
	head := log.Head().Sequence
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil || (len(files) > 1) != split {
		t.Fatal(files, err)
	}
	var second *boltlog.Log
	calls := 0
	report, err := boltlog.Verify(context.Background(), dir, func(int64, int64) {
		if calls++; calls != at+1 {
			return
		}
		second = openLog(t, dir, options)
		w := storetest.NewWriter(t, second)
		for n := range 60 { // enough to use free pages again
			w.Durable(storetest.Pod("job-a", 1000+n), storetest.Text("job-c", 900))
		}
		if !stays {
			if err := second.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if second == nil {
		return // the verification had ended before
	}
	if err != nil {
		t.Errorf("split %t, stays %t, at %d: %v", split, stays, at, err)
	}
	least := events.Sequence(0)
	if report.Written == 0 {
		least = head
	}
	if report.Head.Sequence < least || report.Written != 0 && report.Head.Sequence >= report.Written {
		t.Errorf("split %t, stays %t, at %d: verified through %d, written from %d on, of %d", split, stays, at, report.Head.Sequence, report.Written, head)
	}
	if stays {
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if report, err := boltlog.Verify(context.Background(), dir, nil); err != nil || report.Head.Sequence <= head {
		t.Errorf("split %t, stays %t, at %d: afterwards: %v %v", split, stays, at, report.Head, err)
	}
}
