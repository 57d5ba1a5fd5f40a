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

// lockName is the file, in the directory for temporary ones, by which the processes that have a node know of each
// other. Each has a shared lock on it. It holds the kernel settings from before the first of them.
const lockName = "jobledger-node.lock"

// share returns the open lock of a process that is to have a node, and the kernel settings to put back in the end. The
// first process reads them; the others must not, because the kubelets that run have changed them. Share waits while the
// last process before puts them back.
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

// first reads and stores the settings. The error is EWOULDBLOCK where another process has the lock. Another process may
// be first, too, while the lock becomes a shared one: it reads the same, because no kubelet runs yet.
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

// next reads the settings that the first process stored. They are nil when that process died before it had stored them;
// then this process has no lock.
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

// leave puts the settings back, if no other process has a node. Else the last of them does. After it the lock is
// exclusive, or gone.
func leave(lock *os.File, kernel settings) error {
	err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil
	} else if err != nil {
		return fmt.Errorf("see whether other nodes run: %w", err)
	}
	return errors.Join(kernel.restore(), lock.Truncate(0))
}
