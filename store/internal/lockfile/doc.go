// Package lockfile has the lock of a log's directory: one process writes a log at a time.
package lockfile
