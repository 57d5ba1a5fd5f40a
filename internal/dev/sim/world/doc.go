// Package world assembles the simulated cluster: the API server, the kubelets, the garbage collectors, the namespace
// controller and the users, on one virtual clock and from one seed.
//
// A driver advances it in two ways. [World.Step] lets the seed choose the next event around the controller under test.
// [World.Settle] does everything that is due without a user. Between these calls the driver makes the steps of its
// controller. Each part draws from its own random stream, so the draws of one part do not change those of another.
//
// # Concurrency
//
// One goroutine owns a World and all of its parts.
package world
