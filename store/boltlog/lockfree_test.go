package boltlog

import (
	"syscall"
	"testing"

	"github.com/jobledger/jobledger/store/internal/lockfile"
)

// TestALockThatIsGivenBackIsFree: it is free even while a child process that is just being started has the file of the
// lock open.
func TestALockThatIsGivenBackIsFree(t *testing.T) {
	dir := t.TempDir()
	f, err := lockfile.Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	childs, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Close(childs); err != nil {
			t.Error(err)
		}
	}()
	if err := lockfile.Release(f); err != nil {
		t.Fatal(err)
	}
	if err := lockfile.Held(dir); err != nil {
		t.Errorf("the lock was given back, and %v", err)
	}
	again, err := lockfile.Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := lockfile.Release(again); err != nil {
		t.Error(err)
	}
}
