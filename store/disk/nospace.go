package disk

import (
	"errors"
	"syscall"
)

// NoSpace reports whether err says that a file system or a quota is full, or that a file has reached its maximum size.
func NoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
