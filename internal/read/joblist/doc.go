// Package joblist lists the Jobs of a log. A page costs as much as its own size, however long the log is.
//
// Each file of the log has a list, which is an index file with the suffix .jobs. It has one row for each Job with
// records in the log file: the summary of the Job as of the last record that the list covers. A [Keeper] writes the
// lists while the controller runs: the list of a sealed (finished) file once, and the list of the newest file every
// 32,768 records (Config.Every). [Lists.Page] takes rows from the newest file back, folds (reads into states) the few
// records after the newest list, and stops when the page is full. Invariants:
//
//   - A row is what a fold of all records of its Job gives. If several files have a row of a Job, the row of the newest
//     file has the newest state.
//   - A list is derived data: deleting one costs only time. A list that is damaged, of another log, or of records that
//     the log does not have is not used.
//   - Rows are ordered by the first record of their Job, which never changes, so pages fit together. Jobs whose first
//     records are pruned (deleted) come after all others, ordered by creation, and show what the kept records say
//     (past.go).
//   - The error of a page names all damage of the log that the page met.
//
// # Concurrency
//
// Lists is safe for concurrent use: it folds for one caller at a time. A Keeper belongs to one goroutine.
//
// Read row.go first, then list.go for the layout, page.go and fold.go.
package joblist
