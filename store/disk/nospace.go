package disk

import (
	"errors"
	"syscall"
)

// NoSpace reports whether err says that a file system or a quota is full, or a file as large as it may be.
func NoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
