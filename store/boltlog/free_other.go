//go:build unix && !linux

package boltlog

import "errors"

func freeBytes(string) (int64, error) { return 0, errors.ErrUnsupported }
