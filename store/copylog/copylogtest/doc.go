// Package copylogtest provides places for tests: in a directory, in a bucket of a server in the process, and with
// failures.
package copylogtest
