// Package explain says why a Job ended as it did, or what it waits for, from the records of a log alone.
//
// [Read] folds the records of one Job into a [Case]: its tries, who ended each of them, edits of its spec, refusals,
// and the decision that settled how it ended. [Job] and [Pod] make an [Answer] of a case: a verdict, and sections of
// sentences. Invariants:
//
//   - Each sentence follows from records, and carries their sequences.
//   - Nothing is guessed. What the log cannot tell is "unknown", with what is missing.
//   - The same records give the same answer. There is no clock here.
//   - Time in which nobody watched is named where it touches the answer.
//
// Package show lays an answer out. Texts are not escaped here: package words does that where they are printed.
//
// # Concurrency
//
// Nothing here is safe for concurrent use.
//
// Read case.go first, then try.go, ended.go and answer.go.
package explain
