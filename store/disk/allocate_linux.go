package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Allocate extends f to size `to`, and allocates disk blocks for the bytes [from, to). Existing content is kept.
func Allocate(f *os.File, from, to int64) error {
	if from >= to {
		return nil
	}
	for {
		err := unix.Fallocate(int(f.Fd()), 0, from, to-from)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP):
			return WriteZeros(f, to)
		default:
			return err
		}
	}
}
