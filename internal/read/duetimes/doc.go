// Package duetimes says what a log tells of a CronJob's due times: the fate of each, what holds an open one back, and
// when it is due next. It reads records alone: what it counts by are the schedule and the rules of the zone that were
// in force.
//
// The stream of a CronJob grows for as long as the CronJob lives. [Read] takes all of it. [Newest] and [Around] take
// what answers a question, from a state on that a file of the log has of it.
//
// # Concurrency
//
// A CronJob that was read does not change, and may be used from any goroutine.
package duetimes
