package embedded

import "golang.org/x/sys/unix"

// room reports whether there is enough space on the disk of the directory.
func room(dir string) bool {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return false
	}
	return s.Bavail*uint64(s.Bsize) >= enoughRoom //nolint:gosec // a block has a size
}
