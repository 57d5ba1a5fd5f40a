// Package status holds a Job's status with its index sets as sets, says what its conditions say, and applies what a
// write changes. A Status is a value: it knows nothing of the Job that it is of. Copies share nothing once
// [Status.Clone] or [Status.With] made them. Read on in package projector (published.go), which folds the status that
// the API server has.
//
// # Concurrency
//
// A Status is not safe for concurrent use; whoever holds it owns it.
package status
