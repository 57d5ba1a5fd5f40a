// Package dump reads every object of a cluster and compares two such readings, so that tests see what an installation
// leaves behind.
//
// # Concurrency
//
// A Dump belongs to one goroutine.
package dump
