// Package indexset implements sets of completion indexes, and their text in a Job's status (J-041, J-042): {0, 1, 2, 5}
// is "0-2,5".
//
// The size and cost of a set depend on the number of its gaps, not of its indexes.
//
// # Concurrency
//
// A Set is not safe for concurrent use; its holder owns it.
package indexset
