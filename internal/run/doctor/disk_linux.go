package doctor

import (
	"os"

	"golang.org/x/sys/unix"
)

// fileSystem returns the kind of dir's file system, and the bytes that an unprivileged process may still write there.
func fileSystem(dir string) (kind, free int64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return int64(s.Type), int64(s.Bavail) * s.Bsize, nil //nolint:unconvert // its type differs between platforms
}

func datasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
