// Package drive runs the real loop and the real executor in a simulated world, step by step in one goroutine, so that a
// seed repeats a run exactly.
//
// Each event between two parts of the controller is a step of its own, so that anything can happen before and after it:
// a watch event is delivered, an observation is taken, the loop makes a turn, a batch becomes durable, a command is
// begun, its request takes effect, its answer returns. Between the steps the world goes on, requests fail in all ways
// that the fake API server knows, and watches are cut. The process can crash: its memory is gone, and the log is cut at
// any point from the durable prefix on, or lost. It can stop cleanly, and it sends nothing while the Lease has lapsed.
// Another controller with a log of its own can take over and give back, and the clock can be set.
//
// After every step the promises of design §2 and §6 are checked. At the end the faults stop. Then everything must
// come to rest, every Job that can finish must have finished, and the log must replay without a divergence.
package drive
