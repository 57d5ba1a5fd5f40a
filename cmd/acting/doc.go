// Package acting has the commands that do more than read a log: run, serve, subscribe, doctor, prune, backup, restore,
// drill, trigger and release, one file each, and beside them the flags that several of them take, one file for each group. A
// command says what its flags mean and prints; what is done stands in internal/run, and in events/nats for subscribe.
//
// Most of what the program is compiled from is what these commands need of Kubernetes and NATS. So cmd/jobledger names
// this package in one file, which the build tag reader leaves out.
//
// Read run.go first: [RunFlags] are the choices of an operator.
//
// # Concurrency
//
// Commands run one at a time, in the goroutine that executes the command line.
package acting
