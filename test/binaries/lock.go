package binaries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lock is a file on which this process has a lock (flock). The file stays when the lock is released.
type lock struct{ file *os.File }

// lockPoll is the time between two tries of a waiting process. A blocking flock would not end with a context.
const lockPoll = 200 * time.Millisecond

// acquire takes the lock on the file at path, and writes this process's PID into the file. If another process has the
// lock, acquire prints this once, and waits.
func acquire(ctx context.Context, path string, progress io.Writer) (*lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the build lock: %w", err)
	}
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for told := false; ; told = true {
		err := tryLock(file)
		if err == nil {
			break
		}
		if !errors.Is(err, errLocked) {
			file.Close()
			return nil, fmt.Errorf("take the build lock %s: %w", path, err)
		}
		if !told {
			fmt.Fprintf(progress, "Process %s builds the control plane already; waiting for it.\n", holder(path))
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, fmt.Errorf("wait for the build lock %s: %w", path, context.Cause(ctx))
		case <-tick.C:
		}
	}
	// people who wait read the PID; if it cannot be written, the build continues
	_ = file.Truncate(0)
	_, _ = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return &lock{file}, nil
}

func tryLock(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

func (l *lock) release() { l.file.Close() }

// holder returns the PID of the process that has the lock, as the lock file says, for a message.
func holder(path string) string {
	data, err := os.ReadFile(path)
	if pid := strings.TrimSpace(string(data)); err == nil && pid != "" {
		return pid
	}
	return "(unknown)"
}
