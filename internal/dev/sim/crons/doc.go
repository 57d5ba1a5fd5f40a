// Package crons tests CronJobs in seeded worlds, in virtual time. One world is an API server with CronJobs and their
// Jobs, and a turn of the loop without a log. Its test runs a year, and compares the outcomes (fates) of due times with
// a walk over the schedules. Another world is the whole controller, with log, loop, informer and executor, in package
// world. Its test replays the log of a year, also with a program that has another time zone database. The package has
// no code outside its tests.
//
// # Concurrency
//
// One goroutine drives a world.
package crons
