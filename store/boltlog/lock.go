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

	"github.com/jobledger/jobledger/store"
)

// lockName is the file whose flock is the fence. It is separate from the data, whose files turn over, and it is never
// renamed or deleted, because a flock belongs to the inode. While a writer holds it, it says who that is: pid, a space,
// command line.
const lockName = "LOCK"

// lock takes the lock of a directory: alone to write, together with others to read. It returns nil without error when
// there is no lock file and none can be made, which only a reader accepts: then nobody can write.
func lock(dir string, write bool) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil && !write {
		if f, err = os.Open(path); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the lock of the log: %w", err)
	}
	how := syscall.LOCK_SH
	if write {
		how = syscall.LOCK_EX
	}
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = holder(f)
		} else {
			err = fmt.Errorf("lock %s: %w", path, err)
		}
		return nil, errors.Join(err, f.Close())
	}
	if !write {
		return f, nil
	}
	said := fmt.Sprintf("%d %s\n", os.Getpid(), strings.Join(os.Args, " "))
	// On a full disk it says nothing: a log that is there can be opened all the same.
	if err := errors.Join(f.Truncate(0), writeAt(f, said)); err != nil && !noSpace(err) {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), f.Close())
	}
	return f, nil
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
func unlock(f *os.File, write bool) error {
	if f == nil {
		return nil
	}
	var err error
	if write {
		err = f.Truncate(0)
	}
	return errors.Join(err, f.Close())
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
