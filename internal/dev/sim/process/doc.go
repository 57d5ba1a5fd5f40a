// Package process is one process of the controller in a simulated cluster: the real loop, executor and feed, on a log
// in memory. The caller makes its steps one at a time, and decides the next step, its time, and what happens in
// between.
//
// To end a process, drop it; [Start] begins the next one on the log as it is then.
//
// # Concurrency
//
// One goroutine owns a Process and its cluster.
package process
