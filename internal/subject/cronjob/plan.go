package cronjob

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/schedule"
)

// CronPlan is a parsed schedule with the rules of its time zone.
type CronPlan struct {
	Schedule schedule.Schedule
	Err      error          // parse error of the schedule
	Zone     *time.Location // spec.timeZone; UTC if unset
	ZoneErr  error          // why the zone is unavailable
	Hash     string         // hash of the zone's rules; empty for UTC
}

// Plan returns the CronJob's current schedule.
func (c *CronJob) Plan() *CronPlan { return &c.plan }

// Counting identifies the schedule and the time zone rules from which due times are computed.
type Counting struct {
	Schedule string
	TimeZone *string
	Zone     string // hash of the rules; empty for UTC
}

// Equal reports whether both are the same.
func (a Counting) Equal(b Counting) bool {
	return a.Schedule == b.Schedule && equalText(a.TimeZone, b.TimeZone) && a.Zone == b.Zone
}

// CountingOf returns the schedule and zone rules by which the ledger's due times were computed.
func CountingOf(l *events.TickLedger) Counting { return Counting{l.Schedule, l.TimeZone, l.Zone} }

// By parses a schedule that the CronJob has or had. by also names the time zone rules that it was computed with.
func (c *CronJob) By(by Counting) CronPlan {
	return readPlan(by.Schedule, by.TimeZone, func(name string) (events.ZoneName, bool) { return events.ZoneName{Name: name, Hash: by.Zone}, true }, c.zones)
}

// CountsBy returns the schedule and zone rules of the current spec. After an edit, the recorded due times (the ledger)
// use the old ones until the next decision.
func (c *CronJob) CountsBy() Counting { return Counting{c.Seen.Schedule, c.Seen.TimeZone, c.plan.Hash} }

// Replan parses the current schedule.
func (c *CronJob) Replan() {
	c.plan = readPlan(c.Seen.Schedule, c.Seen.TimeZone, func(name string) (events.ZoneName, bool) {
		for _, z := range c.Seen.Zones {
			if z.Name == name {
				return z, true
			}
		}
		return events.ZoneName{}, false
	}, c.zones)
}

// readPlan parses a schedule and loads its time zone from known. rules returns which version of the rules to use for
// the name of a zone.
func readPlan(text string, zone *string, rules func(name string) (events.ZoneName, bool), known *Zones) (p CronPlan) {
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
	if schedule.NamesZone(text) { // the zone in the text counts then, not spec.timeZone (C-041)
		p.Hash = hash
	}
	return p
}

// location returns the time zone with that version of its rules; nil if they are unknown.
func (z *Zones) location(name events.ZoneName) *time.Location { return z.known[name].where }
