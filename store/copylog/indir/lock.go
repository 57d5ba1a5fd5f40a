package indir

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// lock waits until this process has the flock of a file, which it creates if necessary. unlock releases it.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	// Close also releases the lock; an error loses nothing, because nothing was written.
	return func() { _ = f.Close() }, nil
}

// makeDir creates a directory unless it exists, and makes its entry in the parent directory durable.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, above := range []string{filepath.Dir(dir), filepath.Dir(filepath.Dir(dir))} {
		if err := syncDir(above); err != nil {
			return err
		}
	}
	return nil
}

// syncDir makes new and renamed entries of a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
