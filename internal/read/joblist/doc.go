// Package joblist lists the Jobs of a log at a cost that is that of the page, and not of the log.
//
// Beside each file of the log stands a list: one row for each Job that has records in the file, with its summary as of
// the last record that the list knows. A [Keeper] writes them beside the controller: of a sealed file once, of the
// newest file every some ten thousand records. [Lists.Page] takes rows from the newest file back, folds the few records
// behind the newest list, and stops when the page is full. Invariants:
//
//   - A row is what a fold of all records of its Job gives. The newest file that has a row of a Job has its newest state.
//   - A list is derived: who deletes one loses time. One that is damaged, of another log, or of records that the log does not hold is
//     not used.
//   - Rows are ordered by the first record of their Job, which never changes: so pages fit together. Jobs whose first records are pruned
//     come behind all others, by their creation, and say what the records that are kept say (past.go).
//   - The error of a page names all damage of the log that was met on the way to it.
//
// # Concurrency
//
// Lists is safe for concurrent use: it folds for one caller at a time. A Keeper belongs to one goroutine.
//
// Read row.go first, then list.go for the layout, page.go and fold.go.
package joblist
