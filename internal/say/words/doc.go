// Package words says in words what records say, one sentence for each.
//
// [Names] remembers what records call things, so that [Names.Detail] and [Names.Phrase] can name the pod or the Job
// that is meant. Invariants:
//
//   - Words that others wrote (names, messages, exit texts) reach a terminal only through [Clean]: no control character,
//     escape sequence or direction mark of theirs is ever written.
//   - The same records give the same words: nothing here looks at a clock or walks a map unsorted.
//
// The package does no I/O of its own: Names looks things up with what it was given. Read detail.go first, then
// names.go.
package words
