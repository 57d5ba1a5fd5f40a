// Package world puts the simulated cluster together: the API server, the kubelets, the garbage collectors, the
// namespace controller and the users, on one virtual clock and from one seed.
//
// A driver moves it in two ways: [World.Step] lets the seed choose what happens next around the controller under test,
// and [World.Settle] lets everything that is due without a user happen. In between the driver does its controller's
// steps. Each part draws from a random stream of its own, so that what one part does leaves the choices of the others
// as they are.
//
// # Concurrency
//
// One goroutine owns a World and all of its parts.
package world
