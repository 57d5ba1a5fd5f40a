// Package controller runs the real jobledger program for tests. It creates a user with exactly the rights of a
// deployment, starts, stops and kills the program, starts it again with or without its log, and reads its log through
// its command line.
//
// Invariants:
//
//   - Start returns when the process that it started reports that it is ready.
//   - No process outlives the test program.
//   - The standard output and standard error of every run are kept, see Output.
//
// # Concurrency
//
// A Controller belongs to one goroutine, except Output and the methods that only read the log: Records, Job, CLI.
//
// Read next: controller.go.
package controller
