package disk

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Forget drops the pages of f from the page cache, so that later reads come from the disk and later writes go to the
// disk. This matters after a failed write: ext4 then treats the page as clean and its blocks as written. A later write
// to that page succeeds, but after a power cut the blocks are zeros (test/disk shows it).
func Forget(f *os.File) error {
	if err := f.Sync(); err != nil { // sync first, because the kernel drops only pages that are on the disk
		return fmt.Errorf("sync what was written before: %w", err)
	}
	for {
		err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
