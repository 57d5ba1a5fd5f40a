package duetimes

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// begin has a ledger count as the fold does when it first sees the CronJob: no record tells of it before it says
// something of due times.
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

// Before reports whether an instant lies between the creation of the CronJob and the due time that had been started
// last when it was seen first, and which record shows it first. What became of such an instant no record tells: a
// ledger begins behind it.
func (c *CronJob) Before(at events.Time) (is bool, first Place) {
	if c.Told != 0 || c.found.Record == 0 {
		return false, Place{}
	}
	return at > c.firstSeenAs.Created && at <= c.begun.Through, c.found
}

// dueBefore reports whether such an instant was due by the schedule that the CronJob had when it was seen first.
func (c *CronJob) dueBefore(at events.Time) bool {
	if is, _ := c.Before(at); !is {
		return false
	}
	by := countsBy(c.firstSeenAs)
	s, err := c.of(&by)
	return err == nil && s.Next(s.Base(c.firstSeenAs.Created.Go(), at.Go().Add(-time.Second))).Equal(at.Go())
}

// SeenFirst is the CronJob as it was seen first; nil for not at all.
func (c *CronJob) SeenFirst() *events.CronJobSeen { return c.firstSeenAs }

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

// Lost reports whether the estimate of the built-in controller passes over a due time from the first moment on at which
// it could have started (C-080): then it finds that one never. A deadline moves what the estimate counts from.
func (c *CronJob) Lost(e *Entry, due events.Time) bool {
	s, err := c.of(e.by)
	seen := c.SeenAt(due)
	if err != nil || seen == nil || seen.Deadline != nil || e.since == 0 {
		return false
	}
	found, err := s.Due(e.since.Go(), c.free(due).Go().Add(time.Second))
	return err == nil && found.Lost()
}
