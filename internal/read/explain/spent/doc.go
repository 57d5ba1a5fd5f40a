// Package spent divides the time of a Job among phases: running, scheduling, backoff, suspended, and others. At
// each moment the first phase that holds counts, so that the phases add up to the Job's duration.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read phases.go first, then took.go.
package spent
