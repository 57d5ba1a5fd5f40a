// Package crons is a seeded world for CronJobs: an API server that keeps CronJobs and their Jobs, and a turn of the loop without a log, in
// virtual time. Its test lives through a year of them. It has no code outside its tests.
//
// # Concurrency
//
// A world is driven by one goroutine.
package crons
