// Package plan says whose future Jobs Jobledger could run, what has to be written for that, and what would be
// different, from a log in which it has observed a cluster.
//
// A Job stays with the controller that it has, because spec.managedBy cannot be changed. So a plan is about owners: who
// has made Jobs will make more.
//
// # Concurrency
//
// Nothing here is safe for concurrent use.
package plan
