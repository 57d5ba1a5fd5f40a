// Package dump reads every object of a cluster, and says how two readings differ: so tests see what an installation
// leaves behind.
//
// # Concurrency
//
// A Dump belongs to one goroutine.
package dump
