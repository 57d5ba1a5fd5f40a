// Package acting has the commands that do more than read a log: run, serve, subscribe, doctor, prune, backup, restore,
// clone, drill, trigger and release. Each has a file. Flags that several commands share have a file for each group. A
// command only interprets its flags and prints. The packages in internal/run do the work; for subscribe it is
// events/nats.
//
// These commands need Kubernetes and NATS, which make up most of the program. So only one file of cmd/jobledger imports
// this package, and the build tag reader leaves that file out.
//
// Read run.go first: [RunFlags] are the choices of an operator.
//
// # Concurrency
//
// Commands run one at a time, in the goroutine that executes the command line.
package acting
