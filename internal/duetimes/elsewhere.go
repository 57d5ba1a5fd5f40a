package duetimes

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/schedule"
	"github.com/jobledger/jobledger/internal/ticks"
)

// begin has a ledger count as the fold does when it first sees the CronJob: no record tells of it before it says something of due times.
func (c *CronJob) begin(f *events.CronJobSeen) {
	if c.begun != nil {
		return
	}
	c.begun = &events.TickLedger{Through: f.LastSchedule, Schedule: f.Schedule, TimeZone: f.TimeZone}
	if f.LastSchedule == 0 {
		c.begun.Through = f.Created
	}
	timing := history.TimingOf(f)
	for _, name := range schedule.Named(f.Schedule, f.TimeZone) {
		if hash := timing.Hash(name); hash != "" && (f.TimeZone == nil || name == *f.TimeZone || schedule.NamesZone(f.Schedule)) {
			c.begun.Zone = hash
		}
	}
	c.kept.since = c.begun.Through
}

// ledger is how the ledger of due times stands; nil when the object was not seen.
func (c *CronJob) ledger() *events.TickLedger {
	if c.Ledger != nil {
		return c.Ledger
	}
	return c.begun
}

// Unstarted are the due times that have passed and that another controller has not started so far: an entry without a record. Only the last
// of them may still start. nil for none.
func (c *CronJob) Unstarted() *Entry {
	by := c.ledger()
	if !c.Elsewhere || by == nil || by.Closed || c.Gone != 0 || c.Seen.Deleted != 0 {
		return nil
	}
	s, err := c.of(by)
	if err != nil {
		return nil
	}
	l := ticks.Begin(by.Through.Go())
	first, last := l.Unstarted(&ticks.View{Schedule: s, Anchor: c.kept.since.Go()}, c.now.Go())
	if last.IsZero() {
		return nil
	}
	return &Entry{Tick: events.Tick{First: events.At(first), Last: events.At(last), Observed: true}, by: by, since: c.kept.since}
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
