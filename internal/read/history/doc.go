// Package history says what a log tells about Jobs: their records, the state of one at any point, the account of one,
// and lists.
//
// A [Source] gives records. [Local] is the one on a log that this process has open; package serve has one that asks a
// running controller. [JobAt] folds the records of one Job up to a [Point]. [Fold] folds records like the controller
// does and keeps beside the projection what people ask about ([Account]): the last decision, refusals, what is waited
// for ([JobOf], [SummaryOf]). Source.Jobs lists Jobs a page at a time; [Lists] is where its pages come from.
// Invariants:
//
//   - Only the durable prefix of the log is read (design §2, invariant 2), and it is never changed.
//   - The cost of a state is that of the Job's own records and the controller's, not that of the log.
//   - Damage hides no more than itself, and never silently: a source notes what damage its readers met (Source.Beside, Local.Damage).
//   - The same records give the same account: nothing here looks at a clock or walks a map unsorted.
//
// What is shown of it, on a terminal or over HTTP, is for packages show and serve.
//
// # Concurrency
//
// A Source is safe for concurrent use. A Fold is not.
//
// Read source.go first, then point.go, fold.go and job.go.
package history
