// Package crash kills the real jobledger, again and again, in the middle of a Job or around a due time of a CronJob, on
// a real control plane, and checks that nothing goes wrong.
//
// A row of rows_test.go says when: at a failpoint of the binary (between append, durability, call and outcome; see
// internal/run/failpoint), or at a time that a seed chooses. Then the controller starts again with its log. The same
// row runs once more without the log. While a row runs, a watch notes every version of every pod and Job in its
// namespace. Package ledger checks rules that must always hold, and rules that must hold at the end.
//
// # Concurrency
//
// Rows share one control plane, each in its own namespace. Two run for each processor, because they mostly wait;
// -parallel changes this.
//
// Read next: rows_test.go, then run_test.go.
package crash
