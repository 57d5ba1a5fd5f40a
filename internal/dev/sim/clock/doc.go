// Package clock is the virtual time of the simulation: a clock that moves only when its owner moves it, with a queue of
// due items.
//
// Items run in the order of their due times, and at equal times in the order in which they were scheduled, so a run
// depends on its seed alone. An item may schedule further items, also for the present instant.
//
// # Concurrency
//
// A Clock has one owner and no locks: the simulation is one goroutine.
package clock
