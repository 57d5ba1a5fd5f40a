// Package crons has seeded worlds for CronJobs, in virtual time. One is an API server that keeps CronJobs and their
// Jobs, and a turn of the loop without a log: its test lives through a year of them, and compares their fates with a
// walk over their schedules. Another one is the controller as it is, with log, loop, informer and executor, in package
// world: its test replays the log of a year, also elsewhere. It has no code outside its tests.
//
// # Concurrency
//
// A world is driven by one goroutine.
package crons
