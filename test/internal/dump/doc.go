// Package dump reads every object of a cluster and compares two such dumps, so that tests see what an installation
// leaves in the cluster.
//
// # Concurrency
//
// A Dump belongs to one goroutine.
package dump
