// Package whynot says what became of one instant of a CronJob: whether it was a due time, and why no Job started
// then.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package whynot
