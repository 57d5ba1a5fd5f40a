package metrics

import (
	"github.com/jobledger/jobledger/events"
)

// cronJob observes how late a Job of a CronJob was created (C-210): by the answer to the create, which has the time by
// the server's clock. A Job that was there already is not observed, nor one that was asked for and so was never due.
func (c *Consumer) cronJob(rec *events.Record) {
	f, ok := rec.Facts.(*events.CommandEnded)
	if ok && f.Type == events.CommandCreateJob && f.Ending == events.Done && f.Due != 0 && f.Written != 0 {
		c.metrics.skewSeconds.Observe(f.Written.Sub(f.Due).Seconds())
	}
}
