package duetimes

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// begin sets the first state of the ledger, as the fold does when it first sees the CronJob: no record has it before
// the first decision about due times.
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

// ledger returns the newest state of the ledger; nil before the object was seen.
func (c *CronJob) ledger() *events.TickLedger {
	if c.Ledger != nil {
		return c.Ledger
	}
	return c.begun
}

// Before reports whether an instant is between the creation of the CronJob and the newest due time that had started
// when the CronJob was first seen. first is the record that first shows it. No record tells the fate of such an
// instant: the ledger begins after it.
func (c *CronJob) Before(at events.Time) (is bool, first Place) {
	if c.Told != 0 || c.found.Record == 0 {
		return false, Place{}
	}
	return at > c.firstSeenAs.Created && at <= c.begun.Through, c.found
}

// dueBefore reports whether such an instant was due by the schedule that the CronJob had when it was first seen.
func (c *CronJob) dueBefore(at events.Time) bool {
	if is, _ := c.Before(at); !is {
		return false
	}
	by := countsBy(c.firstSeenAs)
	s, _ := c.of(&by)
	return s.Next(s.Base(c.firstSeenAs.Created.Go(), at.Go().Add(-time.Second))).Equal(at.Go())
}

// SeenFirst returns the CronJob as it was first seen; nil if it was not.
func (c *CronJob) SeenFirst() *events.CronJobSeen { return c.firstSeenAs }

// Now returns the time up to which the CronJob was read.
func (c *CronJob) Now() events.Time { return c.now }

// Until returns when the due time of an entry could no longer start: the next due time.
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

// Lost reports whether the estimate of the built-in controller skips a due time from the first moment at which it could
// have started (C-080), so that it never finds it. Lost is false with a deadline, which moves the start of the
// estimate.
func (c *CronJob) Lost(e *Entry, due events.Time) bool {
	s, err := c.of(e.by)
	seen := c.SeenAt(due)
	if err != nil || seen == nil || seen.Deadline != nil || e.since == 0 {
		return false
	}
	found, err := s.Due(e.since.Go(), c.free(due).Go().Add(time.Second))
	return err == nil && found.Lost()
}
