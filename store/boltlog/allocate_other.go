//go:build unix && !linux

package boltlog

import "os"

// allocate makes the bytes [from, to) of f part of it and gives them blocks of their own. Bytes that were written stay.
func allocate(f *os.File, _, to int64) error { return writeZeros(f, to) }
