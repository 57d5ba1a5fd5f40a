// Package explaintest holds answers against the records that they are made from, and against each other. It knows none
// of the rules by which package explain comes to an answer: it reads the records anew, and takes each sentence at its
// word.
//
// [Check] asks a log for all that it can tell of each Job, its pods, and each CronJob, as of its end and as of points
// before it. What contradicts a record, another sentence of the same answer, or another answer is a [Finding]. An
// answer that says nothing is never one. [Cited] alters what cited records hold: a sentence that stays has its value
// from elsewhere, which is a finding, too.
//
// Read check.go first, then facts.go, crons.go and cited.go.
package explaintest
