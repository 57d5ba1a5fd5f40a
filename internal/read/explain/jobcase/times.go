package jobcase

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// AtClock returns " at " and the time t as text; empty for 0.
func (c *Case) AtClock(t events.Time) string {
	if t == 0 {
		return ""
	}
	return " at " + c.Clock(t)
}

// Finished reports whether the Job has ended: its state is Complete or Failed.
func (c *Case) Finished() bool {
	return c.Job.State == history.StateComplete || c.Job.State == history.StateFailed
}

// Over reports whether nothing can happen to the Job any more: it has finished, or its object is gone.
func (c *Case) Over() bool {
	return c.Finished() || c.Job.State == history.StateFinished || c.Gone.Record != 0
}

// Start returns when the Job was created, from which its duration counts.
func (c *Case) Start() events.Time {
	if c.Added.At != 0 && c.Added.At.Sub(events.Time(c.Job.Created)) < 2*time.Second {
		// The Job was seen within 2 s of its creation, and our time is more exact: it has fractions of a second.
		return c.Added.At
	}
	if c.Job.Created == 0 && len(c.Tries) > 0 { // the creation time is unknown, because its record is pruned
		return c.Tries[0].Seen.At
	}
	return events.Time(c.Job.Created)
}

// End returns when the Job ended, as far as known. If it has not ended, End returns the time up to which it was
// watched: the start of a gap that still lasts, or the point of the case.
func (c *Case) End() events.Time {
	switch {
	case c.Settled != nil && c.Settled.Over.At != 0 && c.Finished():
		return c.Settled.Over.At
	case c.Settled != nil && c.Settled.Stored.At != 0 && c.Finished():
		return c.Settled.Stored.At
	case c.Gone.At != 0:
		return c.Gone.At
	}
	if m, is := c.Unseen(); is {
		return m.At
	}
	if c.Job.Gap != nil {
		return events.Time(c.Job.Gap.From)
	}
	return events.Time(c.Job.AsOf.Time)
}

func (c *Case) Clock(t events.Time) string {
	if t == 0 {
		return "an unknown time"
	}
	return c.Zone.In(t).Format(c.day(t) + "15:04:05")
}

func (c *Case) Moment(t events.Time) string { return c.Zone.In(t).Format(c.day(t) + "15:04:05.000") }

// day returns the format of the date before a time of day. It is empty if t and all times of the Job are on the same
// day.
func (c *Case) day(t events.Time) string {
	const of = "2006-01-02"
	first, last := c.Start(), c.newest
	if !c.Over() {
		last = max(last, events.Time(c.Job.AsOf.Time))
	}
	day := c.Zone.In(first).Format(of)
	if day == c.Zone.In(last).Format(of) && day == c.Zone.In(t).Format(of) {
		return ""
	}
	return "2 Jan "
}
