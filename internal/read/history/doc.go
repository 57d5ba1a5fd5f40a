// Package history answers questions about Jobs and CronJobs from a log: their records, their state at any point, and
// lists of them.
//
// A [Source] returns records. [Local] reads a log that this process has open; package serve has a Source that asks a
// running controller. [JobAt] folds the records of one Job up to a [Point]: it makes the Job's state from them, one
// after the other. [Fold] makes the same states (projections) as the controller. For each Job a Fold also keeps an
// [Account] with facts that the projection lacks, such as the last decision. [JobOf] makes a [Job], the full answer,
// from a Fold and the Job's Account; [SummaryOf] makes a row of a list from an Account. Source.Jobs lists Jobs by page;
// [Lists] makes these pages.
//
// For example, the state of a Job after record 120:
//
//	job, err := history.JobAt(ctx, src, events.JobStream(uid), history.Point{Sequence: 120})
//
// Invariants:
//
//   - The package reads only the durable prefix of the log (design §2, invariant 2), and never changes it.
//   - The cost of a state grows with the records of the Job and of the controller, not with the log.
//   - Damage of the log hides as little as possible, and an answer always names it. For that, code that reads on after
//     an error passes it to Source.Beside, which remembers the damage; a Local remembers it in Local.Damage.
//   - The same records give the same account: the package reads no clock and walks no map unsorted.
//
// Packages show and serve present the answers, on a terminal and over HTTP.
//
// # Concurrency
//
// A Source is safe for concurrent use. A Fold is not.
//
// Read source.go first, then point.go, fold.go and job.go.
package history
