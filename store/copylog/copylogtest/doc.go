// Package copylogtest has places for tests: one in a directory, one in a bucket of a server in the process, and one
// that fails.
package copylogtest
