package boltlog

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// forget makes the kernel forget what it has in memory of f, so that what is read next is what the disk has, and what
// is written next is written anew. After a write that failed, ext4 has a page that looks clean and whose blocks it
// takes for written: a later write to that page succeeds, and after a power cut there are zeros (test/disk shows it).
func forget(f *os.File) error {
	if err := f.Sync(); err != nil { // dirty pages are not forgotten
		return fmt.Errorf("sync what was written before: %w", err)
	}
	for {
		err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
