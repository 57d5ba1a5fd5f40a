// Package lockfile has the lock of a log's directory. It ensures that only one process writes a log, and tells which
// one.
//
// The lock is a flock, which is released when its process ends in any way. The file is never renamed or deleted.
package lockfile
