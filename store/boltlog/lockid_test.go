package boltlog_test

import (
	"os"
	"testing"

	"github.com/jobledger/jobledger/store/boltlog"
)

// TestLockIDIsOfTheFile: a directory keeps its ID when it is moved; a copy has another one.
func TestLockIDIsOfTheFile(t *testing.T) {
	id := func(dir string) string {
		t.Helper()
		log, err := boltlog.Open(dir, small)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		}()
		return log.LockID()
	}
	parent := t.TempDir()
	dir, moved, copied := parent+"/log", parent+"/moved", parent+"/copied"
	first := id(dir)
	if first == "" {
		t.Skip("this system does not say which boot it is")
	}
	if again := id(dir); again != first {
		t.Errorf("opened again it is %s, was %s", again, first)
	}
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if got := id(copied); got == first || got == "" {
		t.Errorf("that of a copy is %q, that of the original %s", got, first)
	}
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if got := id(moved); got != first {
		t.Errorf("moved it is %s, was %s", got, first)
	}
}
