package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// SyncDir makes the entries of a directory (names of files) durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// SyncAbove makes a directory survive a power cut: it syncs the directory's entry in its parent, and the same for all
// parents. It ends at the root of the file system, or at the first parent that this process may not open.
func SyncAbove(dir string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return err
	}
	for above := filepath.Dir(dir); above != dir; dir, above = above, filepath.Dir(above) {
		same, err := sameDevice(dir, above)
		if err == nil && same {
			err = SyncDir(above)
		}
		if errors.Is(err, fs.ErrPermission) || err == nil && !same {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sameDevice reports whether two directories are on one file system.
func sameDevice(a, b string) (bool, error) {
	one, err := device(a)
	if err != nil {
		return false, err
	}
	other, err := device(b)
	return one == other, err
}

func device(dir string) (uint64, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Dev), nil //nolint:unconvert // the type is signed on some systems
	}
	return 0, nil
}
