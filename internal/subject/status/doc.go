// Package status represents a Job's status with parsed index sets, evaluates its conditions, and applies the changes of
// a status write. A Status is a value without reference to its Job; [Status.Clone] and [Status.With] return copies that
// share nothing. Package projector (published.go) keeps the status that the API server has.
//
// # Concurrency
//
// A Status is not safe for concurrent use; its holder owns it.
package status
