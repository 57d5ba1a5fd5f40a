// Package explain answers from the records of a log why a Job ended as it did, or what it waits for. It also explains
// pods and CronJobs.
//
// [Read] folds the records of one Job into a [Case]: its tries, what ended each of them, the edits of its spec, the
// refusals of the API server, and the decision that settled the Job's end. [Case.Answer] makes an [Answer] of a case: a
// verdict, and sections of sentences. For example, the section FIRST has "main exit 3 after 2s: try 1, a-x2x7k on
// node-0", with the sequences of the records that show it.
//
// Invariants:
//
//   - Each sentence follows from records, and carries their sequences.
//   - Nothing is guessed. If the log does not show something, the answer is "unknown", and says which records are
//     missing.
//   - The same records give the same answer. The package reads no clock.
//   - An answer names each gap of the watch that overlaps the time it covers.
//
// Package show prints an answer. Texts are not escaped here: package words escapes them when they are printed.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read case.go first, then try.go, ended.go and answer.go.
package explain
