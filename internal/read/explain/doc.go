// Package explain has the values that answers consist of: an [Answer] is a verdict and sections of [Sentence], and each
// sentence has the records that it follows from, as a [Mark] each. For example, the section FIRST has "main exit 3
// after 2s: try 1, a-x2x7k on node-0", with the sequences of the records that show it.
//
//	s := explain.Say(explain.Marks(t.Seen, t.Ended), "%s ended at %s", t.Pod, c.Clock(t.Ended.At))
//
// The packages below it make the answers. Package job explains a Job or a pod, package cron a CronJob, package whynot
// one instant of a CronJob, package failures lists what is in trouble, package attempts the tries of a Job. These use
// other packages below explain, each with one subject; docs/design/0030-rooms-of-answers.md lists them, and who imports
// whom.
//
// Invariants of all of them:
//
//   - Each sentence follows from records, and carries their sequences.
//   - Nothing is guessed. If the log does not show something, the answer is "unknown", and says which records are
//     missing.
//   - The same records give the same answer. No package reads a clock.
//   - An answer names each gap of the watch that overlaps the time it covers.
//
// Package show prints an answer. Texts are not escaped here: package words escapes them when they are printed.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read answer.go first, then excerpt.go.
package explain
