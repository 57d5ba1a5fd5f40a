// Package controller runs a controller: the log, the informer, the loop, the executor, the consumers of the log, the
// ports and the Lease.
//
// [Run] does this for a [Config]. It takes the Lease, opens the log, folds it into the state of all Jobs, makes the
// parts and waits for them. To stop, it first ends the informer, so that no new facts arrive. Then the loop waits for
// the commands in flight, and the consumers of the log catch up. Invariants:
//
//   - Nothing is created on disk before the cluster is found, and nothing is decided before the Lease is held.
//   - A log with known loss of records is refused, unless an operator names the epoch to begin.
//   - Every goroutine returns its error to one group; the comment where it starts says what ends it.
//
// The flags that set a Config are defined in cmd/acting; messages name them.
//
// Read config.go first, then controller.go.
package controller
