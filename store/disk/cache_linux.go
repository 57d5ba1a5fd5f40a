package disk

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Forget drops the page cache of f, so that later reads come from the disk and later writes reach it. After a failed
// write, ext4 keeps a clean page and believes that its blocks are written: a later write to that page succeeds, and a
// power cut then leaves zeros (test/disk shows it).
func Forget(f *os.File) error {
	if err := f.Sync(); err != nil { // the kernel does not drop dirty pages
		return fmt.Errorf("sync what was written before: %w", err)
	}
	for {
		err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
