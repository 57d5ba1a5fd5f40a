// Package drive lets the real loop and the real executor work in a simulated world, step by step from one goroutine, so
// that a seed repeats exactly.
//
// Every place where something can go wrong between two parts is a step of its own: a watch event is delivered, an
// observation is taken, a turn is made, a batch becomes durable, a command is begun, its request has its effect, its
// answer comes back. In between the world goes on, requests fail in all ways the fake API server knows, watches are
// cut, and the process crashes: everything in memory is gone, the log is cut at any point from the durable prefix on,
// or lost whole. Or it stops in good order, and nothing is sent while the Lease has lapsed. Another controller with a
// log of its own takes over, and gives back; the clock is set.
//
// After every step the promises of design §2 and §6 are checked; at the end, with the disturbances over, everything
// must come to rest, every Job that can finish must have, and the log must replay without a divergence.
package drive
