// Package lease holds the Lease that lets one controller of a cluster work at a time (operations.md section C):
//
//	l, err := lease.New(lease.Config{Client: client, Namespace: "jobledger", …})
//	err = l.Run(ctx, lease.Bid{Log: log, Admit: admit, Lead: lead})
//
// [Lease.Run] waits for the Lease, calls Lead, and then releases the Lease. The Lease names its holder's log, how far
// the log has got (design §4, Identity), and the LOCK file that the holder has locked. So a controller with another
// log, or with an older copy of the same log, is detected; and a process that now holds that same LOCK file knows that
// the old holder has ended, and takes the Lease at once. [Lease.Beside] finds controllers that run the same Jobs under
// a Lease in another namespace. [Judge] says how far a Lease is trusted, by its namespace, which is an operator's or a
// tenant's (docs/design/0005-lease.md, 0024-one-lease.md).
//
// Invariants:
//
//   - Holds is true only while no other process can have taken the Lease: until the renew deadline after the start of
//     the newest renewal, which is shorter than the duration that others wait (O-023). This needs no goroutine.
//   - A context of Within ends with the hold, so no request outlives it.
//   - The context of Lead ends when the Lease is lost, with cause [ErrLost].
//   - A process that finds a higher-ranking Lease with a live holder does not lead, or stops. A process that finds a
//     lower-ranking one leads after waiting for its duration; an honest holder has stopped by then.
//   - Of two Leases in the operator's namespaces, the one taken first leads. Taking a Lease again does not count as
//     first.
//   - A process that cannot read the Leases above its own does not lead.
//   - The Lease is released only after Lead has returned.
//   - The holder alone writes what the Lease says about a log: when it takes the Lease, and with each renewal.
//   - An expired Lease is taken at once only if its holder has certainly ended. Otherwise others wait until it was not
//     renewed for its whole duration.
//
// # Concurrency
//
// Run may be called once, and Beside by one goroutine at a time. The other methods are safe for concurrent use.
package lease
