//go:build !linux

package doctor

import (
	"errors"
	"os"
)

// fileSystem always returns an error: it is implemented for Linux only, where the controller runs.
func fileSystem(string) (kind, free int64, err error) {
	return 0, 0, errors.New("it can be looked at on Linux only, where the controller runs")
}

func datasync(f *os.File) error { return f.Sync() }
