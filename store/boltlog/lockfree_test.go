package boltlog

import (
	"syscall"
	"testing"
)

// TestALockThatIsGivenBackIsFree: it is free even while a child process that is just being started has the file of the
// lock open.
func TestALockThatIsGivenBackIsFree(t *testing.T) {
	dir := t.TempDir()
	f, err := lock(dir)
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
	if err := unlock(f); err != nil {
		t.Fatal(err)
	}
	if err := written(dir); err != nil {
		t.Errorf("the lock was given back, and %v", err)
	}
	again, err := lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := unlock(again); err != nil {
		t.Error(err)
	}
}
