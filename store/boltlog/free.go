package boltlog

// FreeBytes returns the free space of the directory's file system for a process without privileges. It returns
// errors.ErrUnsupported on systems other than Linux.
func FreeBytes(dir string) (int64, error) { return freeBytes(dir) }
