package metrics

import (
	"github.com/jobledger/jobledger/events"
)

// cronJob adds to the metric how late a Job of a CronJob was created (C-210), by the API server's time in the answer to
// the create. It skips a Job that already existed, and a run that a user asked for, which has no due time.
func (c *Consumer) cronJob(rec *events.Record) {
	f, ok := rec.Facts.(*events.CommandEnded)
	if ok && f.Type == events.CommandCreateJob && f.Ending == events.Done && f.Due != 0 && f.Written != 0 {
		c.metrics.skewSeconds.Observe(f.Written.Sub(f.Due).Seconds())
	}
}
