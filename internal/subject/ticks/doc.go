// Package ticks is the ledger of a CronJob's due times: each instant of the schedule is open until its one final fate.
//
// An instant is open while something holds it back, such as Forbid or suspension. At most one is open, the latest: only
// that one may still start (C-081). Entries follow one another in time and never overlap, so together they have each
// instant once. A long silence is one entry: it has the first instant and the last, and who reads it counts by the
// schedule.
//
// Of a CronJob that another controller runs no instant is open: what became of it is found when a later one is seen to
// have started, and a record says it then (Ledger.See).
//
// # Concurrency
//
// A Ledger is not safe for concurrent use; whoever holds it owns it.
package ticks
