// Package lease holds the Lease by which one controller of a cluster at a time works (operations.md section C).
//
// [Lease.Run] waits until the Lease is held, leads, and gives it back. The Lease carries which log its holder writes, and
// how far that has got (design §4, Identity), so that a controller with another log, or an older copy of the same one, is
// found. Invariants:
//
//   - Holds is true only while nobody else can have taken the Lease: until the renew deadline after the newest renewal began,
//     which is shorter than the duration that others wait (O-023). It needs no goroutine to have noticed anything.
//   - What is done Within it ends then, so no request is on its way for longer than that.
//   - The context given to who leads ends when the Lease is lost, with the cause [ErrLost].
//   - The Lease is given back only after who leads has returned: nothing is done on its behalf any more.
//   - What the Lease says of a log changes only when who leads has said which log is its own, with Carry.
//
// # Concurrency
//
// Run is called once. The other methods may be called from any goroutine.
package lease
