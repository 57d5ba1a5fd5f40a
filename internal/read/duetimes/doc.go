// Package duetimes says what a log tells about the due times of a CronJob: the fate of each, what holds an open one
// back, and the next one. It reads only records: it counts due times with the schedule and the zone rules that were in
// force.
//
// The stream of a CronJob grows as long as the CronJob lives. [Read] reads all of it. [Newest] and [Around] read the
// part that answers a question, from a stored state of the CronJob on; each file of the log has one.
//
// # Concurrency
//
// A CronJob does not change after it was read, and may be used from any goroutine.
package duetimes
