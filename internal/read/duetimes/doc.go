// Package duetimes says what a log tells about the due times of a CronJob: what became of each (its fate), what holds
// an open one back, and the next one. It computes due times with the schedule and the zone rules that were in force,
// which are in the log.
//
// The records of a CronJob grow as long as the CronJob lives. [Read] reads all of them. [Newest] and [Around] read only
// the part that answers a question. Such a part begins at a checkpoint (stored state) of the CronJob, which each file
// of the log has.
//
// # Concurrency
//
// A CronJob does not change after it was read, and may be used from any goroutine.
package duetimes
