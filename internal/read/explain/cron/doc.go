// Package cron answers about a CronJob: whether it starts its Jobs, and if not, why; and how its newest Jobs ended.
//
//	c, err := cron.Read(ctx, src, events.CronJobStream(uid), history.Point{})
//	a := c.Answer()
//
// What is said about a single Job comes from package verdicts.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read answer.go first, then verdict.go.
package cron
