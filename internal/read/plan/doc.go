// Package plan prepares a move to Jobledger, from a log in which it observed a cluster. It lists whose future Jobs
// Jobledger could run, what to set for that, and which decisions would differ.
//
// A Job keeps its controller, because spec.managedBy cannot change. The plan is therefore about owners: an owner that
// has created Jobs will create more.
//
// # Concurrency
//
// Nothing here is safe for concurrent use.
package plan
