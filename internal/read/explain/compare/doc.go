// Package compare compares a Job with other Jobs: with earlier runs of the same work, with Jobs that ran at the
// same time, and with Jobs that the same obstacle held up.
//
// [Jobs.Read] reads them, within bounds; the other methods say what differs, and what they have in common.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read peers.go first, then changed.go and also.go.
package compare
