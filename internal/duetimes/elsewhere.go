package duetimes

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// begin has a ledger count as the fold does when it first sees the CronJob: no record tells of it before it says something of due times.
func (c *CronJob) begin(f *events.CronJobSeen) {
	if c.begun != nil {
		return
	}
	by := countsBy(f)
	by.Through = f.LastSchedule
	if f.LastSchedule == 0 {
		by.Through = f.Created
	}
	c.begun = &by
	c.kept.since = c.begun.Through
}

// ledger is how the ledger of due times stands; nil when the object was not seen.
func (c *CronJob) ledger() *events.TickLedger {
	if c.Ledger != nil {
		return c.Ledger
	}
	return c.begun
}

// Now is as of when the CronJob was read.
func (c *CronJob) Now() events.Time { return c.now }

// Until is when the due time of an entry could no longer start: when the next one was due.
func (c *CronJob) Until(e *Entry, due events.Time) events.Time {
	s, err := c.of(e.by)
	if err != nil {
		return due
	}
	if next := s.Next(due.Go()); !next.IsZero() && !s.Every() {
		return events.At(next)
	}
	return max(due, e.Into)
}

// Lost reports whether the estimate of the built-in controller passes over a due time from the first moment on at which it could have
// started (C-080): then it finds that one never. A deadline moves what the estimate counts from.
func (c *CronJob) Lost(e *Entry, due events.Time) bool {
	s, err := c.of(e.by)
	if err != nil || c.Seen == nil || c.Seen.Deadline != nil || e.since == 0 {
		return false
	}
	found, err := s.Due(e.since.Go(), c.free(due).Go().Add(time.Second))
	return err == nil && found.Lost()
}
