// Package failures lists the Jobs and CronJobs in trouble: stuck, failed, deleted while they were stuck, or nearly
// failed. [Find] groups them by cause, so that 40 Jobs with one cause are one entry.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read failures.go first, then cause.go.
package failures
