//go:build unix && !linux

package disk

import "os"

// Allocate extends f to the bytes [from, to) and allocates blocks for them. Written bytes keep their content.
func Allocate(f *os.File, _, to int64) error { return WriteZeros(f, to) }
