// Package process is one process of the controller in a simulated cluster: the real loop, executor and feed on a log in
// memory, moved a step at a time. Whoever drives it says which step is next and at what time, and what else happens in
// between.
//
// A process ends when it is forgotten; [Start] makes the next one on what is left of its log.
//
// # Concurrency
//
// One goroutine owns a Process and its cluster.
package process
