// Package failing describes the failed tries of a Job (its pods that failed): the first one and its cause, and what all
// of them have in common.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package failing
