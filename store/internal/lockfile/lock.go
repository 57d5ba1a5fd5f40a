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

// Name is the name of the file with the flock that fences writers. It is never renamed or deleted, because a flock
// belongs to the inode; so it cannot be a data file. While a writer holds it, its content names the process: pid, a
// space, command line.
const Name = "LOCK"

// Take takes the exclusive lock of a directory for a writer. It returns ErrHeld when another process has it. Readers
// take the lock for an instant to test it ([Held]), so Take retries for lockPatience.
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
	// On a full disk the file stays empty: an existing log can be opened all the same.
	if err := errors.Join(f.Truncate(0), writeAt(f, said)); err != nil && !disk.NoSpace(err) {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), f.Close())
	}
	return f, nil
}

const lockPatience = 200 * time.Millisecond

// flock takes the lock, exclusive or shared. It does not block, and returns ErrHeld when another process prevents it.
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

// Held returns ErrHeld when a process writes the log in the directory, and nil when none does.
func Held(dir string) error {
	f, err := regular.Open(filepath.Join(dir, Name))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, regular.ErrOdd) {
		return nil // a writer creates LOCK first, and does not start when LOCK is not a regular file
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

// holder returns an ErrHeld that names the process in the lock file. A holder that only reads does not write its name,
// so holder ignores a process that is no longer alive.
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

// Release clears the content of the lock file and releases the lock.
func Release(f *os.File) error {
	return errors.Join(f.Truncate(0), release(f))
}

// release releases a lock before it closes the file. A child process that is just being started inherits the file until
// it executes its program, and would otherwise keep the lock.
func release(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}
