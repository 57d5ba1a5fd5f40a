// Package copylogtest provides places (stores for a copy of a log) for tests: in a directory, in a bucket of a server
// within the process, and with failures.
package copylogtest
