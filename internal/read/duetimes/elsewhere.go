package duetimes

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// begin sets which due times are decided (the ledger) when the CronJob is first seen: those up to its
// status.lastScheduleTime, or else up to its creation. The controller begins in the same way, but writes this to no
// record before its first decision.
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

// ledger returns the newest state of the due-time ledger: through which instant due times are decided, and which one is
// open. Before the first decision, it is the state with which the ledger begins (c.begun); nil if the CronJob was not
// seen yet.
func (c *CronJob) ledger() *events.TickLedger {
	if c.Ledger != nil {
		return c.Ledger
	}
	return c.begun
}

// Before reports whether an instant is too early for the log to tell its outcome: after the creation of the CronJob,
// but not after the newest due time that had started when the log's first record of the CronJob was written. first is
// that record.
func (c *CronJob) Before(at events.Time) (is bool, first Place) {
	if c.Told != 0 || c.found.Record == 0 {
		return false, Place{}
	}
	return at > c.firstSeenAs.Created && at <= c.begun.Through, c.found
}

// dueBefore reports whether an instant is too early for the log to tell its outcome (Before), and was a due time by the
// schedule in the CronJob's first record.
func (c *CronJob) dueBefore(at events.Time) bool {
	if is, _ := c.Before(at); !is {
		return false
	}
	by := countsBy(c.firstSeenAs)
	s, _ := c.of(&by)
	return s.Next(s.Base(c.firstSeenAs.Created.Go(), at.Go().Add(-time.Second))).Equal(at.Go())
}

// SeenFirst returns the first version of the CronJob in the part of the log that was read; nil if there is none.
func (c *CronJob) SeenFirst() *events.CronJobSeen { return c.firstSeenAs }

// Now returns the time as of which the answers are: that of the log's end, or an earlier one (Span.Now).
func (c *CronJob) Now() events.Time { return c.now }

// Until returns when a due time could no longer start, because the next due time came; e is its outcome. For @every, it
// is the due time that started instead, or due itself.
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

// Lost reports whether the built-in CronJob controller could never find a due time: its estimate of missed due times
// skips this one from the first moment at which it could start (C-080). Lost is false if startingDeadlineSeconds is
// set, because the estimate then begins at another time.
func (c *CronJob) Lost(e *Entry, due events.Time) bool {
	s, err := c.of(e.by)
	seen := c.SeenAt(due)
	if err != nil || seen == nil || seen.Deadline != nil || e.since == 0 {
		return false
	}
	found, err := s.Due(e.since.Go(), c.free(due).Go().Add(time.Second))
	return err == nil && found.Lost()
}
