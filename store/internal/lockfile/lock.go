package lockfile

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
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/regular"
)

// Name is the name of the file whose flock keeps other writers out. A flock belongs to the inode, so the file is never
// renamed or deleted, and cannot be a data file. While a process writes the log, the file's content names it: pid, a
// space, command line.
const Name = "LOCK"

// Take takes the exclusive lock of a directory, for a writer. If another process has the lock, it returns ErrHeld. It
// tries for lockPatience, because readers hold the lock for a moment to test it ([Held]).
func Take(dir string) (*os.File, error) {
	path := filepath.Join(dir, Name)
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
	// If the disk is full, the file stays empty: other processes then cannot tell who holds the lock, but the log can
	// be opened.
	if err := errors.Join(f.Truncate(0), writeAt(f, said)); err != nil && !disk.NoSpace(err) {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), f.Close())
	}
	return f, nil
}

const lockPatience = 200 * time.Millisecond

// flock takes the lock of the file; how is syscall.LOCK_EX (exclusive) or LOCK_SH (shared). It does not block; if
// another process prevents it, it returns ErrHeld.
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

// Held returns ErrHeld if a process writes the log in the directory, and nil if none does.
func Held(dir string) error {
	f, err := regular.Open(filepath.Join(dir, Name))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, regular.ErrOdd) {
		return nil // A writer creates a regular file LOCK before it writes. So if there is none, no process writes.
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

// holder returns an ErrHeld that names the process in the lock file. The content may be old, because a process that
// only tests the lock does not write its name. So a process that no longer runs is not named.
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

// Release empties the lock file and releases the lock.
func Release(f *os.File) error {
	return errors.Join(f.Truncate(0), release(f))
}

// release releases the lock before it closes the file. Closing is not enough: a child process that is being started has
// inherited the file, and would keep the lock until it executes its program.
func release(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}
