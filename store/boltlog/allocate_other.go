//go:build unix && !linux

package boltlog

import "os"

// allocate extends f to the bytes [from, to) and allocates blocks for them. Written bytes keep their content.
func allocate(f *os.File, _, to int64) error { return writeZeros(f, to) }
