//go:build !linux

package boltlog

import "os"

// forget cannot make the kernel forget what it has in memory of f: only Linux is asked for that.
func forget(f *os.File) error { return f.Sync() }
