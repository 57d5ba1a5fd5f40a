// Package job answers questions about one Job, and about one pod of it. It composes the answer from the packages next
// to it:
//
//	c, err := job.Read(ctx, src, events.JobStream(uid), history.Point{})
//	a := c.Answer()
//
// The package with the subject of a section makes the section: package failing makes FIRST, package stuck makes
// WAITS FOR. The sections about the end of the whole Job are made here: WHY, CLOSE, RULED OUT, HISTORY.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read answer.go first.
package job
