// Package index is an index of consecutive records: a whole log in memory, or one file of a log on disk. It finds the
// records of each stream, and the streams whose object has a certain name.
//
// # Concurrency
//
// One goroutine adds records; any number may query meanwhile. Records may be indexed before they are durable, so the
// caller must cut off each result at the durable head.
//
// Read index.go.
package index
