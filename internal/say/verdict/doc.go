// Package verdict says in one line how a Job ended and why.
//
//	text := verdict.Of(job) // FAILED after 36 s: all 3 tries exited 3; backoffLimit is 2
//
// The line depends only on the state of the Job, so every program that computes the state from the same records gets
// the same line. No decision reads it. If another version words the same state differently, a replay does not report
// that. Invariants:
//
//   - Every number in the line is in the state: in the published status, in the spec, or in the counts of how tries
//     (pods) ended ([projector.Tries]). The line says "unknown" for what the state does not have.
//   - Tries that ended in different ways are never reported as one.
//   - The line has at most [Width] columns of printable ASCII, whatever foreign names and reasons it contains.
//
// [Of] is for a Job as it is; [On] is for a status that is about to be stored.
package verdict
