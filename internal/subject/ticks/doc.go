// Package ticks is the ledger of a CronJob's due times. Each due time is open until it gets its one final [Fate].
//
// A due time is open while something holds it back, such as Forbid or a suspension. At most one is open, the latest,
// because only that one may still start (C-081). Entries are in order and never overlap, so each due time is in exactly
// one. Consecutive due times with the same fate share an entry of the first and the last:
//
//	schedule "0 * * * *", suspended from 01:30 to 05:30
//	02:00–04:00  merged into 05:00
//	05:00        started, 30 minutes late
//
// If another controller runs the CronJob, no due time is open. Its fate is recorded once a later one has started
// (Ledger.See).
//
// # Concurrency
//
// A Ledger is not safe for concurrent use; its holder owns it.
package ticks
