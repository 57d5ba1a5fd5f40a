package projector

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/schedule"
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

// Counting is by what due times are counted.
type Counting struct {
	Schedule string
	TimeZone *string
	Zone     string // hash of the rules; empty for UTC
}

// Equal reports whether both are the same.
func (a Counting) Equal(b Counting) bool {
	return a.Schedule == b.Schedule && equalText(a.TimeZone, b.TimeZone) && a.Zone == b.Zone
}

// CountingOf is by what a ledger counts.
func CountingOf(l *events.TickLedger) Counting { return Counting{l.Schedule, l.TimeZone, l.Zone} }

// By is a schedule of the CronJob as it is read.
func (c *CronJob) By(by Counting) CronPlan {
	return readPlan(by.Schedule, by.TimeZone, func(name string) (events.ZoneName, bool) { return events.ZoneName{Name: name, Hash: by.Zone}, true }, c.zones)
}

// CountsBy is by what its due times are counted now. The ledger counts by something else from an edit on, until that is
// decided on.
func (c *CronJob) CountsBy() Counting { return Counting{c.Seen.Schedule, c.Seen.TimeZone, c.plan.Hash} }

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

// location is a zone by its rules; nil when they are not known.
func (z *zones) location(name events.ZoneName) *time.Location { return z.known[name].where }
