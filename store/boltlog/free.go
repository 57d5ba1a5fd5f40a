package boltlog

// FreeBytes is what a process without privileges may still write to the file system of a directory. The error is
// errors.ErrUnsupported where that is not known.
func FreeBytes(dir string) (int64, error) { return freeBytes(dir) }
