package disk

import "golang.org/x/sys/unix"

// FreeBytes returns the free space that an unprivileged process may use on the directory's file system. On systems
// other than Linux it returns errors.ErrUnsupported.
func FreeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * s.Bsize, nil
}
