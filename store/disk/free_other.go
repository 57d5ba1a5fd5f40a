//go:build unix && !linux

package disk

import "errors"

// FreeBytes is implemented only for Linux.
func FreeBytes(string) (int64, error) { return 0, errors.ErrUnsupported }
