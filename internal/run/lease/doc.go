// Package lease holds the Lease by which one controller of a cluster at a time works (operations.md section C).
//
// [Lease.Run] waits until the Lease is held, leads, and gives it back. The Lease carries which log its holder writes,
// how far that has got (design §4, Identity), and which LOCK file the holder has locked. So a controller with another
// log, or an older copy of the same one, is found; and who holds that LOCK file now knows that the holder of the Lease
// has ended, and takes the Lease at once. [Lease.Beside] finds controllers that run the same Jobs under a Lease in
// another namespace. [Judge] says how far each Lease is believed: by its namespace, which is an operator's or a
// tenant's (docs/design/0005-lease.md, 0024-one-lease.md). Invariants:
//
//   - Holds is true only while no other process can have taken the Lease: until the renew deadline after the newest renewal began,
//     which is shorter than the duration that others wait (O-023). It needs no goroutine to have noticed anything.
//   - What is done Within it ends then, so no request is on its way for longer than that.
//   - The context given to who leads ends when the Lease is lost, with the cause [ErrLost].
//   - Who finds a Lease above its own, whose holder lives, does not lead, or ends. Who finds one below goes on, once it has
//     waited for as long as that is good for, in which an honest holder finds the Lease above and ends.
//   - Of two Leases in the operator's namespaces the one leads that was taken first. Who takes its Lease anew is not the first.
//   - Who may not read the Leases above its own does not lead.
//   - The Lease is given back only after who leads has returned: nothing is done on its behalf any more.
//   - What the Lease says of a log is what its holder said: it is written in the request that takes the Lease, and with each
//     renewal. Who is refused changes nothing of it.
//   - A Lease that is not good any more is taken at once only from a holder that has ended for certain. Of any other, others
//     wait until it has not been renewed for as long as it is good for.
//
// # Concurrency
//
// Run is called once, and Beside by one goroutine at a time. The other methods may be called from any goroutine.
package lease
