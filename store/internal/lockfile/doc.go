// Package lockfile has the lock of a log's directory: one process writes a log at a time, and the lock says which.
//
// The lock is a flock, which ends with its process, however that ends. The file is never renamed or deleted.
package lockfile
