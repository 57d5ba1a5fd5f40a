//go:build linux

package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lockName is a file in the directory for temporary files. Each process that has a node holds a shared lock on it.
// Its content is the kernel settings as they were before the first node.
const lockName = "jobledger-node.lock"

// share is called by a process that will start a node. It returns the lock file, now locked, and the kernel settings to
// restore at the end. Only the first process reads these settings from the kernel (with read), because running kubelets
// change them. While the last process of an earlier group restores them, share waits.
func share(read func() (settings, error)) (*os.File, settings, error) {
	file, err := os.OpenFile(filepath.Join(os.TempDir(), lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, err
	}
	for {
		kernel, err := first(file, read)
		if errors.Is(err, unix.EWOULDBLOCK) {
			kernel, err = next(file)
		}
		if err != nil {
			file.Close()
			return nil, nil, fmt.Errorf("share the machine with other nodes: %w", err)
		}
		if kernel != nil {
			return file, kernel, nil
		}
	}
}

// first reads the kernel settings and stores them in the lock file. It returns EWOULDBLOCK if another process has the
// lock. At the moment when the exclusive lock becomes a shared one, a second process may be first, too. It reads the
// same values, because no kubelet runs yet.
func first(file *os.File, read func() (settings, error)) (settings, error) {
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, err
	}
	kernel, err := read()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(kernel)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(file.Truncate(0), writeAt(file, text)); err != nil {
		return nil, err
	}
	return kernel, unix.Flock(int(file.Fd()), unix.LOCK_SH)
}

func writeAt(file *os.File, text []byte) error {
	_, err := file.WriteAt(text, 0)
	return err
}

// next returns the kernel settings that the first process stored in the lock file. If that process died before it
// stored them, next returns nil and releases the lock.
func next(file *os.File) (settings, error) {
	if err := unix.Flock(int(file.Fd()), unix.LOCK_SH); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file.Name())
	if err != nil {
		return nil, err
	}
	var kernel settings
	if json.Unmarshal(text, &kernel) != nil || kernel == nil {
		return nil, unix.Flock(int(file.Fd()), unix.LOCK_UN)
	}
	return kernel, nil
}

// leave restores the kernel settings, unless another process still has a node; the last process restores them.
// Afterwards the lock is exclusive or released.
func leave(lock *os.File, kernel settings) error {
	err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil
	} else if err != nil {
		return fmt.Errorf("see whether other nodes run: %w", err)
	}
	return errors.Join(kernel.restore(), lock.Truncate(0))
}
