//go:build !linux

package disk

import "os"

// Forget only syncs f: dropping the page cache is implemented for Linux alone.
func Forget(f *os.File) error { return f.Sync() }
