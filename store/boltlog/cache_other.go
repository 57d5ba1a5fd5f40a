//go:build !linux

package boltlog

import "os"

// forget only syncs f: dropping the page cache is implemented for Linux alone.
func forget(f *os.File) error { return f.Sync() }
