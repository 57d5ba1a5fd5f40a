// Package job answers about one Job, and about one pod of it. It composes the answer from the rooms beside it:
//
//	c, err := job.Read(ctx, src, events.JobStream(uid), history.Point{})
//	a := c.Answer()
//
// Each section of an answer is a function of the room with its subject: package failing makes FIRST, package stuck
// makes WAITS FOR. The sections about the end of the Job as a whole are here: WHY, CLOSE, RULED OUT, HISTORY.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read answer.go first.
package job
