// Package clock is the virtual time of the simulation: a clock that does not move by itself, with a queue of
// things that are due.
//
// Items run in the order of their due time and, at equal times, in the order in which they were scheduled, so that a
// run depends on nothing but its seed. An item may schedule further items, also at the present instant.
//
// # Concurrency
//
// A Clock has one owner and no locks: the simulation is one goroutine.
package clock
