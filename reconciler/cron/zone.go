package cron

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/internal/subject/schedule"
)

// onlyRules reports whether schedule and zone name are the same as in old, and only the rules of the time zone differ.
// Example: after an update of the time zone database.
func (p *plan) onlyRules(old *cronjob.CronPlan) bool {
	cp := p.cron
	by, l := cp.Plan(), &cp.ledger
	switch {
	case old.Err != nil, old.ZoneErr != nil, by.Err != nil, by.ZoneErr != nil, l.Zone == "", by.Hash == "":
		return false
	case l.Schedule != cp.Seen.Schedule, (l.TimeZone == nil) != (cp.Seen.TimeZone == nil):
		return false
	}
	return l.TimeZone == nil || *l.TimeZone == *cp.Seen.TimeZone
}

// staysOpen reports whether `open`, a due time that has passed and may still start, is also a due time under the new
// rules of the time zone, and is still the newest one at time `at`.
func (p *plan) staysOpen(open time.Time, at events.Time) bool {
	by := p.cron.Plan().Schedule
	if open.IsZero() || !by.Next(open.Add(-time.Second)).Equal(open) {
		return false
	}
	next := by.Next(open)
	return next.IsZero() || next.After(at.Go())
}

// otherRules returns a sentence for the log that says how the changed zone rules affect the next due times.
func otherRules(before, now schedule.Schedule, at time.Time) string {
	from := schedule.Apart(before, now, at)
	if from.IsZero() {
		return "the rules of its time zone are other ones than before; for ten years its clocks show the same"
	}
	text := "the rules of its time zone are other ones than before: its clocks differ from " + from.Format(time.RFC3339) + " on"
	was, is := before.Next(from.Add(-time.Second)), now.Next(from.Add(-time.Second))
	if was.Equal(is) || was.IsZero() || is.IsZero() {
		return text
	}
	return fmt.Sprintf("%s, when it is due next at %s, and would have been at %s", text, is.Format(time.RFC3339), was.Format(time.RFC3339))
}
