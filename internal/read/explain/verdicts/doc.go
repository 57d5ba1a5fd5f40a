// Package verdicts says about a Job in one sentence how it ended and why, or what it waits for.
//
// [Of] returns the verdict of an answer. [Lines] returns a line for each of many Jobs.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read verdict.go first, then living.go and numbers.go.
package verdicts
