// Package triggering requests a run of a CronJob now, by an annotation on the CronJob, with the rights of the caller.
// Invariants:
//
//   - Nothing is written unless a Lease shows that a controller of ours runs the CronJobs of that namespace, and the
//     Lease is being renewed: the built-in controller does not know the annotation.
//   - It sends one patch. The patch has the CronJob's UID as a precondition, and changes only the annotation.
//
// Start at [Run]. The command is `jobledger trigger`.
//
// # Concurrency
//
// Run has no state, and is safe for concurrent use.
package triggering
