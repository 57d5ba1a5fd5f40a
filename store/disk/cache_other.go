//go:build !linux

package disk

import "os"

// Forget only syncs f, because dropping the page cache is implemented only for Linux.
func Forget(f *os.File) error { return f.Sync() }
