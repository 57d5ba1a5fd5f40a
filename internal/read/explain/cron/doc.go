// Package cron answers questions about a CronJob: does it start its Jobs, if not, why, and how did its newest Jobs end?
//
//	c, err := cron.Read(ctx, src, events.CronJobStream(uid), history.Point{})
//	a := c.Answer()
//
// Its sentences about single Jobs come from package verdicts.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read answer.go first, then verdict.go.
package cron
