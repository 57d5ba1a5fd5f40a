package cron

import (
	"cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TroubleSince returns the time since which no due time has started a Job, or no Job has ended. It returns false if the
// CronJob has no such trouble.
func (c *Case) TroubleSince() (since events.Time, is bool) {
	s := &c.State
	switch s.State {
	case history.CronInvalid:
		return c.newestSpec(), true
	case history.CronHeld:
		return c.open(), c.Now().Sub(c.open()) >= history.Grace(s.Spec.Deadline)
	case history.CronOverdue, history.CronRunning, history.CronWaiting:
	case history.CronUnseen, history.CronSuspended, history.CronDeleting, history.CronDeleted:
		return 0, false
	}
	if s.Next == 0 {
		return c.newestSpec(), true
	}
	if n, newest := c.missed(); n > 0 {
		return c.missedSince(), true
	} else if newest != nil {
		return 0, false // some newest due times may have started, or their outcome is unknown: that is no trouble
	}
	if _, is := c.unfinishedVerdict(); is {
		return c.oldestRun(), true
	}
	if starved := c.starved(); len(starved) >= leastStarved {
		return starved[len(starved)-1].Created, true
	}
	return 0, false
}

// oldestRun returns the creation time of the oldest running Job.
func (c *Case) oldestRun() (oldest events.Time) {
	for i := range c.State.Runs {
		if r := &c.State.Runs[i]; r.State == history.StateRunning && (oldest == 0 || events.Time(r.Created) < oldest) {
			oldest = events.Time(r.Created)
		}
	}
	return oldest
}

// newestSpec returns the time of the last edit of the spec; 0 if none was seen.
func (c *Case) newestSpec() events.Time {
	if n := len(c.Due.Changes); n > 0 {
		return c.Due.Changes[n-1].At
	}
	return cmp.Or(events.Time(c.State.Created), c.Added.At)
}

// missedSince returns the first of the due times that did not start, in a row up to the newest one.
func (c *Case) missedSince() (first events.Time) {
	all := c.dues()
	for i := len(all) - 1; i >= 0; i-- {
		e := &all[i]
		switch {
		case e.Fate == 0 && c.young(e):
			continue
		case started(e):
			return first
		}
		first = e.First
	}
	return first
}

// started reports whether due time e started a Job, or is no trouble for another reason: the schedule was changed, the
// CronJob was deleted, or its outcome is unknown.
func started(e *duetimes.Entry) bool {
	return e.Job != "" || e.Fate == events.TickStarted || e.Fate == events.TickReplaced || e.Fate == events.TickDeleted ||
		e.Fate == events.TickUnknown
}
