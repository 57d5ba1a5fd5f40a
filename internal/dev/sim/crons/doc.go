// Package crons tests CronJobs in simulated clusters, in virtual time. In one test the cluster is an API server with
// CronJobs and their Jobs, and the loop runs without a log. It runs for a year, and compares the outcome of each due
// time (its fate: started, too late, and so on) with what the schedule asks for. In another test the whole controller
// runs, with log, loop, informer and executor, in package world. That test replays the log of a year, also with a
// program that has another time zone database. The package has no code outside its tests.
//
// # Concurrency
//
// One goroutine drives a cluster.
package crons
