// Package failing describes the tries that failed: the first of them and its cause, and what all of them have in
// common.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package failing
