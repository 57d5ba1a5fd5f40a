// Package explaintest checks answers of package explain against the records behind them, and against each other. It
// does not use the rules by which package explain finds an answer: it reads the records itself, and takes each sentence
// literally.
//
// [Check] asks a log about each Job, its pods, and each CronJob, at the end of the log and at earlier points. A
// sentence that contradicts a record, another sentence of the same answer, or another answer is a [Finding]. An answer
// that claims nothing is never a finding. [Cited] changes the values in cited records: if a sentence stays the same,
// its value comes from elsewhere, which is a finding, too.
//
// Read check.go first, then facts.go, crons.go and cited.go.
package explaintest
