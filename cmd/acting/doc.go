// Package acting has the commands that do more than read a log: run, serve, subscribe, doctor, prune, backup, restore,
// clone, drill, trigger and release, one file each. Beside them are the flags that several commands share, one file for
// each group. A command interprets its flags and prints; the work is done in internal/run, and in events/nats for
// subscribe.
//
// These commands need Kubernetes and NATS, which is most of what the program is compiled from. So cmd/jobledger names
// this package in a single file, which the build tag reader leaves out.
//
// Read run.go first: [RunFlags] are the choices of an operator.
//
// # Concurrency
//
// Commands run one at a time, in the goroutine that executes the command line.
package acting
