// Package index finds the records of each stream, and the streams that had a name, in a range of consecutive records: a
// whole log in memory, or one file of a log on disk.
//
// # Concurrency
//
// One goroutine adds records; any number may query meanwhile. The caller clips each result to the durable records, so
// records can be indexed before they are durable.
//
// Read index.go.
package index
