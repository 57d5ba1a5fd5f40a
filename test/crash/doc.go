// Package crash kills the real jobledger, again and again, in the middle of a Job or around a due time of a CronJob, on
// a real control plane, and checks that nothing comes of it.
//
// A row of rows_test.go says where: at a failpoint of the binary (between append, durability, call and outcome; see
// internal/run/failpoint), or at an instant that a seed chooses. The controller is then started again, with its log or,
// in the same row once more, without. While a row runs, a watch notes every version of every pod and Job in its
// namespace; package ledger says what must hold of them at all times, and what must hold at the end.
//
// # Concurrency
//
// Rows run against one control plane, each in a namespace of its own: two for each processor, because they wait most of
// the time; -parallel says otherwise.
//
// Read next: rows_test.go, then run_test.go.
package crash
