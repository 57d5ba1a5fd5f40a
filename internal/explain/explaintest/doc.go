// Package explaintest holds answers against the records that they are made from, and against each other. It knows none of the rules by
// which package explain comes to an answer: it reads the records anew, and takes each sentence at its word.
//
// [Check] asks a log for all that it can tell of each Job and its pods, as of its end and as of points before it. What contradicts a
// record, or another sentence of the same answer, is a [Finding]. An answer that says nothing is never one.
//
// Read check.go first, then facts.go.
package explaintest
