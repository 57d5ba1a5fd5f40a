package boltlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/regular"
)

// lockName is the file whose flock is the fence. It is separate from the data, whose files turn over, and it is never
// renamed or deleted, because a flock belongs to the inode. While a writer holds it, it says who that is: pid, a space,
// command line.
const lockName = "LOCK"

// lock takes the lock of a directory, to write there. The error is ErrHeld when another process has it. One that only
// looks whether it is held has it for an instant, so it is tried for a while.
func lock(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	f, err := regular.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the log: %w", err)
	}
	deadline := time.Now().Add(lockPatience)
	err = flock(f, syscall.LOCK_EX)
	for errors.Is(err, store.ErrHeld) && time.Now().Before(deadline) {
		<-time.After(lockPatience / 50)
		err = flock(f, syscall.LOCK_EX)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	said := fmt.Sprintf("%d %s\n", os.Getpid(), strings.Join(os.Args, " "))
	// On a full disk it says nothing: a log that is there can be opened all the same.
	if err := errors.Join(f.Truncate(0), writeAt(f, said)); err != nil && !noSpace(err) {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), f.Close())
	}
	return f, nil
}

const lockPatience = 200 * time.Millisecond

// flock takes the lock, exclusive or shared, if no other process holds it against that.
func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return holder(f)
		case err != nil:
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		default:
			return nil
		}
	}
}

// written says who writes the log in that directory now: ErrHeld when a process does, nil when none does.
func written(dir string) error {
	f, err := regular.Open(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, regular.ErrOdd) {
		return nil // a writer makes it before anything else, and does not start on one that is no file
	}
	if err != nil {
		return fmt.Errorf("open the lock of the log: %w", err)
	}
	return errors.Join(flock(f, syscall.LOCK_SH), release(f))
}

func writeAt(f *os.File, s string) error {
	_, err := f.WriteAt([]byte(s), 0)
	return err
}

// holder says who holds the lock, as far as the file tells. A holder that only reads does not write its name, so one
// that is no longer alive is not believed.
func holder(f *os.File) error {
	held := &store.HeldError{Path: f.Name()}
	b := make([]byte, 1024)
	n, _ := f.ReadAt(b, 0)
	pid, command, _ := strings.Cut(strings.TrimSpace(string(b[:n])), " ")
	if p, err := strconv.Atoi(pid); err == nil && p > 0 && !errors.Is(syscall.Kill(p, 0), syscall.ESRCH) {
		held.PID, held.Command = p, command
	}
	return held
}

// unlock gives the lock back and takes the name off it.
func unlock(f *os.File) error {
	return errors.Join(f.Truncate(0), release(f))
}

// release gives a lock back before it closes the file: a child that this process is just starting has the file, too,
// until it executes its program, and would keep the lock so long.
func release(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}
