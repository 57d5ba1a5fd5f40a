// Package show turns records into what people and programs are shown: sentences, tables, JSON, and the account of a Job.
//
// [Record] writes one record as JSON, in a shape that is documented there and kept by a golden test. [Names] remembers
// what records call things, so that [Names.Detail] can say in one sentence what a record says. [Fold] folds records
// like the controller does and keeps beside the projection what people ask about: the last decision, refusals, what is
// waited for ([JobOf], [SummaryOf]). [Table] lays out columns. Invariants:
//
//   - Words that others wrote (names, messages, exit texts) reach a terminal only through [Clean]: no control character,
//     escape sequence or direction mark of theirs is ever written.
//   - Times are UTC and, in JSON, RFC 3339 with nanoseconds.
//   - The same records give the same bytes: nothing here looks at a clock or walks a map unsorted.
//
// The package does no I/O of its own. Read detail.go first, then fold.go and job.go.
package show
