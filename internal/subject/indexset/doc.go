// Package indexset holds sets of completion indexes, and reads and writes their text in a Job's status (J-041, J-042).
//
// The size of a set, and the cost of using it, depend on the number of its gaps, not of its indexes.
//
// # Concurrency
//
// A Set is not safe for concurrent use; whoever holds it owns it.
package indexset
