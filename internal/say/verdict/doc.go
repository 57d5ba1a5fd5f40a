// Package verdict says in one line how a Job ended and why.
//
// The line is a function of the Job's state and of nothing else, so whoever folds the same records gets the same line.
// It is evidence: no decision reads it, and other words for the same state are no difference between a log and its
// replay. Invariants:
//
//   - Every number in it is one of the state: of the published status, of the spec, or of the tally of how tries ended
//     ([projector.Tries]). What the state does not hold is said to be unknown.
//   - Tries that ended in different ways are never told as one.
//   - It is one line of at most [Width] columns of printable ASCII, whatever names and reasons others wrote.
//
// [Of] is for a Job as it is; [On] for a status that is to be stored.
package verdict
