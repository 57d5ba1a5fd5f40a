// Package controller runs the real jobledger binary for tests: builds it, gives it a user with exactly the rights that
// a Job controller has, starts it, stops it or kills it, starts it again with its log or without, and reads through its
// command line what it wrote down.
//
// Invariants:
//
//   - Start returns when the controller says that it is ready, as the process that was started.
//   - No process outlives the test program.
//   - Everything that every run wrote to its standard output and standard error is kept, see Output.
//
// # Concurrency
//
// A Controller belongs to one goroutine, except Output and the methods that only read the log: Records, Job, CLI.
//
// Read next: controller.go.
package controller
