package boltlog_test

import (
	"testing"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// small lets a new file begin often.
var small = store.Options{RotateBytes: 64 << 10}

// TestContract: sequences are dense, there is one writer, and a reader sees a durable prefix without a gap (design
// §2, invariant 2).
func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (store.Log, func() store.Log) {
		dir := t.TempDir()
		log := openLog(t, dir, small)
		return log, func() store.Log {
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			log = openLog(t, dir, small)
			return log
		}
	})
}

// openLog opens a log that is closed when the test ends.
func openLog(t testing.TB, dir string, options store.Options) *boltlog.Log {
	t.Helper()
	log, err := boltlog.Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return log
}
