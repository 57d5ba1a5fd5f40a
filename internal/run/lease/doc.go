// Package lease holds the Kubernetes Lease by which only one controller of a cluster works at a time (operations.md
// section C):
//
//	l, err := lease.New(lease.Config{Client: client, Namespace: "jobledger", …})
//	err = l.Run(ctx, lease.Bid{Log: log, Admit: admit, Lead: lead})
//
// [Lease.Run] waits for the Lease, calls Lead, and then releases the Lease. The Lease names its holder's log, the log's
// last record (design §4, Identity), and the file LOCK that the holder has locked. A controller with another log, or
// with an older copy of the same log, is detected. A process that holds the lock on that same file knows that the
// previous holder has ended, and takes the Lease at once. [Lease.Beside] finds controllers that run the same Jobs under
// a Lease in another namespace. [Judge] decides how far a Lease is trusted, by its namespace: only an operator can
// write in some namespaces, and tenants can write in the others (docs/design/0005-lease.md, 0024-one-lease.md).
//
// Invariants:
//
//   - Holds is true only while no other process can have taken the Lease: from the start of the newest successful
//     renewal until the renew deadline, which is shorter than the duration that others wait (O-023). This needs no
//     goroutine.
//   - A context of Within ends when Holds becomes false, so no request outlives it.
//   - The context of Lead ends when the Lease is lost, with cause [ErrLost].
//   - A process does not lead, or stops, if it finds a live holder of a Lease with precedence. If it finds a Lease
//     with lower precedence, it leads after it has waited for that Lease's duration; a correct holder has stopped by
//     then.
//   - Of two Leases in the operator's namespaces, the one that was taken first has precedence. A process that takes
//     its Lease again, after it lost it, does not count as first.
//   - A process that cannot read the Leases that may have precedence does not lead.
//   - The Lease is released only after Lead has returned.
//   - Only the holder writes what the Lease says about a log: when it takes the Lease, and with each renewal.
//   - An expired Lease is taken at once only if its holder has certainly ended. Otherwise a process waits until it has
//     not seen a renewal for the Lease's whole duration.
//
// # Concurrency
//
// Run may be called once, and Beside by one goroutine at a time. The other methods are safe for concurrent use.
package lease
