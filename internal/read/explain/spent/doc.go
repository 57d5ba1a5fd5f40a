// Package spent divides the time of a Job among phases: running, scheduling, backoff, suspended, and others. If several
// phases hold at the same moment, only the first in the list of phases counts. So the phases add up to the Job's
// duration.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read phases.go first, then took.go.
package spent
