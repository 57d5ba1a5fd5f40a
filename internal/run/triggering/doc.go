// Package triggering asks for a run of a CronJob, with the rights of who calls it. Invariants:
//
//   - Nothing is written unless a Lease says that a controller of ours runs the CronJobs of that namespace, and is renewed: the
//     built-in controller would not know what the annotation means.
//   - One patch is sent. It has the UID of the CronJob that was looked at, and changes nothing but the annotation.
//
// Start at [Run]. The command is `jobledger trigger`.
//
// # Concurrency
//
// Run has no state, and may be called from any goroutine.
package triggering
