// Package duetimes says what a log tells about the due times of a CronJob: what became of each (its fate), what holds
// the undecided one back, and when the next one is. It computes due times with the schedule and the zone rules that
// were in force then; the log has both.
//
// The records of a CronJob grow as long as the CronJob lives. [Read] reads all of them. [Newest] and [Around] read only
// the part that answers a question. Such a part begins at a checkpoint: a record with the whole state of the CronJob.
// Each file of the log has one.
//
//	c, err := duetimes.Around(ctx, src, stream, at) // the records around an instant
//	v := c.At(at.Go())                              // v.Entry has the fate of the due time
//
// # Concurrency
//
// A CronJob caches results (Count, Untold), so only one goroutine may use it at a time.
package duetimes
