package duetimes

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// begin sets the first state of the due-time ledger, when the CronJob is first seen. The projector sets the same state;
// no record has it until the first decision about due times.
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

// ledger returns the newest state of the due-time ledger; nil before the CronJob was first seen.
func (c *CronJob) ledger() *events.TickLedger {
	if c.Ledger != nil {
		return c.Ledger
	}
	return c.begun
}

// Before reports whether an instant lies before the due times that the log covers: after the creation of the CronJob,
// and not after the newest due time that had started when the CronJob was first seen. No record tells what became of
// such an instant. first is the record in which the CronJob is first seen.
func (c *CronJob) Before(at events.Time) (is bool, first Place) {
	if c.Told != 0 || c.found.Record == 0 {
		return false, Place{}
	}
	return at > c.firstSeenAs.Created && at <= c.begun.Through, c.found
}

// dueBefore reports whether an instant, for which Before is true, was a due time by the first schedule that was seen.
func (c *CronJob) dueBefore(at events.Time) bool {
	if is, _ := c.Before(at); !is {
		return false
	}
	by := countsBy(c.firstSeenAs)
	s, _ := c.of(&by)
	return s.Next(s.Base(c.firstSeenAs.Created.Go(), at.Go().Add(-time.Second))).Equal(at.Go())
}

// SeenFirst returns the first version of the CronJob in the read part; nil if there is none.
func (c *CronJob) SeenFirst() *events.CronJobSeen { return c.firstSeenAs }

// Now returns the time as of which the answer is.
func (c *CronJob) Now() events.Time { return c.now }

// Until returns the time from which the due time of an entry could no longer start: the next due time.
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

// Lost reports whether the built-in controller could never find a due time: its estimate of missed due times skips this
// one from the first moment at which it could start (C-080). Lost is false with startingDeadlineSeconds, because the
// estimate then begins elsewhere.
func (c *CronJob) Lost(e *Entry, due events.Time) bool {
	s, err := c.of(e.by)
	seen := c.SeenAt(due)
	if err != nil || seen == nil || seen.Deadline != nil || e.since == 0 {
		return false
	}
	found, err := s.Due(e.since.Go(), c.free(due).Go().Add(time.Second))
	return err == nil && found.Lost()
}
