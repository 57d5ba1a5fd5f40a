// Package indexset implements sets of completion indexes, and their text in a Job's status (J-041, J-042): {0, 1, 2, 5}
// is "0-2,5".
//
// The size of a set, and the cost of its methods, depend on the number of its gaps, not on the number of its indexes.
//
// # Concurrency
//
// A Set is not safe for concurrent use: the object that has it as a field owns it.
package indexset
