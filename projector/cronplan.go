package projector

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/schedule"
)

// CronPlan is a schedule as it is read, with the rules of its zone.
type CronPlan struct {
	Schedule schedule.Schedule
	Err      error          // why the schedule cannot be read
	Zone     *time.Location // of spec.timeZone; UTC for none
	ZoneErr  error          // why that zone cannot be had
	Hash     string         // of the rules that due times follow; empty for UTC
}

// Plan is the CronJob's schedule as it is now.
func (c *CronJob) Plan() *CronPlan { return &c.plan }

// CountedBy is the schedule by which the ledger counts. It is another one than Plan from an edit on, until that is decided on.
func (c *CronJob) CountedBy() CronPlan {
	l := &c.Ledger
	return readPlan(l.Schedule, l.TimeZone, func(name string) (events.ZoneName, bool) { return events.ZoneName{Name: name, Hash: l.Zone}, true }, c.zones)
}

// SamePlan reports whether the ledger counts by the schedule as it is now.
func (c *CronJob) SamePlan() bool {
	l := &c.Ledger
	return l.Schedule == c.Seen.Schedule && equalText(l.TimeZone, c.Seen.TimeZone) && l.Zone == c.plan.Hash
}

// replan reads the schedule again.
func (c *CronJob) replan() {
	c.plan = readPlan(c.Seen.Schedule, c.Seen.TimeZone, func(name string) (events.ZoneName, bool) {
		for _, z := range c.Seen.Zones {
			if z.Name == name {
				return z, true
			}
		}
		return events.ZoneName{}, false
	}, c.zones)
}

// readPlan reads a schedule. rules says by which rules a zone of that name is to be read.
func readPlan(text string, zone *string, rules func(name string) (events.ZoneName, bool), known *zones) (p CronPlan) {
	hash := ""
	locate := func(name string) (*time.Location, error) {
		if z, ok := rules(name); ok {
			if at := known.location(z); at != nil {
				hash = z.Hash
				return at, nil
			}
		}
		return nil, schedule.UnknownZone(name)
	}
	p.Zone = time.UTC
	var in *time.Location
	if zone != nil {
		if in, p.ZoneErr = schedule.Locate(*zone, locate); p.ZoneErr == nil {
			p.Zone = in
		}
	}
	p.Hash, hash = hash, ""
	p.Schedule, p.Err = schedule.Parse(text, in, locate)
	if schedule.NamesZone(text) { // then spec.timeZone has no say in the timing (C-041)
		p.Hash = hash
	}
	return p
}

func equalText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
