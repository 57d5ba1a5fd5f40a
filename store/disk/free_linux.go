package disk

import "golang.org/x/sys/unix"

// FreeBytes returns the free space of the directory's file system for a process without privileges. It returns
// errors.ErrUnsupported on systems other than Linux.
func FreeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * s.Bsize, nil
}
