package duetimes

import (
	"errors"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/schedule"
)

// ErrUnseen: the log does not have the CronJob's object any more, or not yet.
var ErrUnseen = errors.New("the log does not say what the CronJob's schedule is")

// mostCounted bounds how many due times of a range are counted.
const mostCounted = 1_000_000

// Count is how many due times the entry is about; ok is false where that cannot be counted.
func (c *CronJob) Count(e *Entry) (n int, ok bool) {
	if e.First == e.Last {
		return 1, true
	}
	s, err := c.of(e.by)
	if err != nil {
		return 0, false
	}
	for range s.Between(e.First.Go().Add(-time.Second), e.Last.Go()) {
		if n++; n == mostCounted {
			return n, false
		}
	}
	return n, true
}

// of is the schedule of a ledger.
func (c *CronJob) of(by *events.TickLedger) (schedule.Schedule, error) {
	if by == nil {
		return schedule.Schedule{}, ErrUnseen
	}
	s, _, err := c.scheduleOf(by.Schedule, by.TimeZone, by.Zone)
	return s, err
}

// Next are the first due times after an instant, by the newest schedule, and the zone in which that is written.
func (c *CronJob) Next(after time.Time, n int) (due []time.Time, zone *time.Location, err error) {
	if c.Seen == nil {
		return nil, nil, ErrUnseen
	}
	s, zone, err := c.scheduleOf(c.Seen.Schedule, c.Seen.TimeZone, "")
	if err != nil {
		return nil, nil, err
	}
	if s.Every() { // it counts from the newest due time
		anchor := c.Seen.LastSchedule
		if anchor == 0 {
			anchor = c.Seen.Created
		}
		if last := s.Last(anchor.Go(), after); !last.IsZero() {
			after = last
		} else {
			after = anchor.Go()
		}
	}
	for t := s.Next(after); !t.IsZero() && len(due) < n; t = s.Next(t) {
		due = append(due, t)
	}
	return due, zone, nil
}

// Verdict is what there is to say of an instant.
type Verdict struct {
	Entry  *Entry // that has it; nil for none
	Open   bool   // it is the open one: Hold says what holds it back
	Hold   events.TickHold
	Future bool // it is due by the newest schedule, and was not decided about yet
	// Before and After are the nearest due times of an instant that is none; zero where there is none.
	Before, After time.Time
}

// Due reports whether the instant is a due time.
func (v *Verdict) Due() bool { return v.Entry != nil || v.Open || v.Future }

// At says what became of an instant. It looks for the newest entry that has it.
func (c *CronJob) At(t time.Time) (v Verdict) {
	at := events.At(t)
	for i := len(c.Entries) - 1; i >= 0; i-- {
		e := &c.Entries[i]
		if e.First <= at && at <= e.Last && c.has(e, t) {
			return Verdict{Entry: e}
		}
	}
	if l := c.Ledger; l != nil && l.Open == at && at != 0 {
		return Verdict{Open: true, Hold: l.Hold}
	}
	if next, _, err := c.Next(t.Add(-time.Second), 2); err == nil && len(next) > 0 && c.Gone == 0 {
		if next[0].Equal(t) && (c.Ledger == nil || at > c.Ledger.Through) {
			return Verdict{Future: true}
		}
		if v.After = next[0]; v.After.Equal(t) && len(next) > 1 {
			v.After = next[1]
		}
	}
	for i := range c.Entries {
		c.nearest(&v, &c.Entries[i], t)
	}
	if l := c.Ledger; l != nil && l.Open != 0 {
		v.near(l.Open.Go(), t)
	}
	return v
}

// has reports whether an instant within a range is one of its due times.
func (c *CronJob) has(e *Entry, t time.Time) bool {
	if e.First == e.Last || e.First.Go().Equal(t) || e.Last.Go().Equal(t) {
		return true
	}
	s, err := c.of(e.by)
	return err == nil && s.Next(t.Add(-time.Second)).Equal(t)
}

// nearest takes the due times of an entry that are nearest to the instant.
func (c *CronJob) nearest(v *Verdict, e *Entry, t time.Time) {
	v.near(e.First.Go(), t)
	v.near(e.Last.Go(), t)
	if s, err := c.of(e.by); err == nil && e.First.Go().Before(t) && t.Before(e.Last.Go()) {
		v.near(s.Next(t), t)
		if last := s.Last(e.First.Go().Add(-time.Second), t); !last.IsZero() {
			v.near(last, t)
		}
	}
}

func (v *Verdict) near(due, t time.Time) {
	switch {
	case due.Before(t) && (v.Before.IsZero() || due.After(v.Before)):
		v.Before = due
	case due.After(t) && (v.After.IsZero() || due.Before(v.After)):
		v.After = due
	}
}
