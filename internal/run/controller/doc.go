// Package controller puts a controller together and runs it: log, informer, loop, executor, what follows the log,
// ports, Lease.
//
// [Run] does all of it for a [Config]: it takes the Lease, opens the log, folds it, makes the parts and waits. A stop
// goes from the facts to the log: the informer tells nothing more, the loop waits for what is in flight, what follows
// the log catches up. Invariants:
//
//   - Nothing is made on disk before the cluster was found, and nothing is decided before the Lease is held.
//   - A log that is known to have lost records is refused, unless an operator named the epoch that begins.
//   - Every goroutine returns its error to one group; whoever starts one says in a comment what ends it.
//
// The flags that choose a Config are those of cmd/acting; messages name them.
//
// Read config.go first, then controller.go.
package controller
