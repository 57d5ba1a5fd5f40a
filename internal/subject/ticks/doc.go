// Package ticks keeps the ledger of a CronJob: what became of each due time. A due time is open until it gets its
// [Fate] (started, skipped, and so on), which is final.
//
// A due time is open while something keeps it from starting, such as Forbid or a suspension. At most one is open, the
// latest, because only the latest one may still start (C-081). Entries of the ledger are in order and never overlap, so
// each due time is in exactly one entry. Consecutive due times with the same fate share an entry with the first and the
// last of them:
//
//	schedule "0 * * * *", suspended from 01:30 to 05:30
//	02:00–04:00  merged into 05:00
//	05:00        started, 30 minutes late
//
// If another controller runs the CronJob, no due time is open. The fate of a due time is recorded once a later one has
// started (Ledger.See).
//
// # Concurrency
//
// A Ledger is not safe for concurrent use: the object that has it as a field owns it.
package ticks
