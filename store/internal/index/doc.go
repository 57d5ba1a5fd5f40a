// Package index knows where the records of each stream are, and which streams bore a name, for one run of consecutive
// records: a whole log in memory, or one file of a log on disk.
//
// # Concurrency
//
// One goroutine adds; any number may look up meanwhile. What is looked up is clipped to a sequence by the caller, so
// records can be indexed before they are durable and stay invisible until they are.
//
// Read index.go.
package index
