package history

import (
	"context"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/zones"
)

// ZoneRules holds the rules of time zones (TZif data) by their hash, which is how the log names them. The zero
// ZoneRules is empty.
type ZoneRules struct{ tzif map[string][]byte }

// Find loads the wanted rules. It takes them from this program's time zone database if they have the same hash,
// otherwise from the log. Rules that neither has are left out.
func (z *ZoneRules) Find(ctx context.Context, src Source, wanted ...events.ZoneName) error {
	if z.tzif == nil {
		z.tzif = map[string][]byte{}
	}
	missing := map[string]bool{}
	for _, name := range wanted {
		if name.Hash == "" || z.tzif[name.Hash] != nil {
			continue
		}
		if rules, ok := zones.Find(name.Name); ok && rules.Hash == name.Hash {
			z.tzif[name.Hash] = rules.TZif
		} else {
			missing[name.Hash] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	for r, err := range src.Records(ctx, Query{Kinds: []events.Kind{events.KindZoneStored}}) {
		if err != nil {
			return err
		}
		if f, ok := r.Facts.(*events.ZoneRules); ok {
			z.tzif[f.Hash] = f.TZif
			if delete(missing, f.Hash); len(missing) == 0 {
				break
			}
		}
	}
	return nil
}

// Schedule parses a schedule, and returns it with its time zone. timeZone is spec.timeZone; hash returns the hash of a
// zone's rules by the name of the zone.
func (z *ZoneRules) Schedule(text string, timeZone *string, hash func(name string) string) (schedule.Schedule, *time.Location, error) {
	locate := func(name string) (*time.Location, error) {
		tzif := z.tzif[hash(name)]
		if tzif == nil {
			return nil, schedule.UnknownZone(name)
		}
		return time.LoadLocationFromTZData(name, tzif)
	}
	in := time.UTC
	var given *time.Location
	named := schedule.NamesZone(text) // the zone: CRON_TZ= in the schedule overrides spec.timeZone (C-041)
	if timeZone != nil && !named {
		var err error
		if in, err = schedule.Locate(*timeZone, locate); err != nil {
			return schedule.Schedule{}, nil, err
		}
		given = in
	}
	if named {
		for _, name := range schedule.Named(text, nil) {
			if zone, err := locate(name); err == nil {
				in = zone
			}
		}
	}
	s, err := schedule.Parse(text, given, locate)
	return s, in, err
}

// Timing has the fields of a CronJob that determine its due times.
type Timing struct {
	Schedule string
	TimeZone *string             // spec.timeZone; nil if it is not set
	Hash     func(string) string // returns the hash of a zone's rules, by the zone's name
	// Anchor is the time from which @every counts (C-033): the newest due time that started, else the creation time.
	Anchor events.Time
}

// TimingOf returns the fields that determine the due times of a CronJob. seen is the newest version that was seen.
func TimingOf(seen *events.CronJobSeen) Timing {
	t := Timing{Schedule: seen.Schedule, TimeZone: seen.TimeZone, Anchor: seen.LastSchedule, Hash: func(name string) string {
		for _, z := range seen.Zones {
			if z.Name == name {
				return z.Hash
			}
		}
		return ""
	}}
	if t.Anchor == 0 {
		t.Anchor = seen.Created
	}
	return t
}

// Next returns the first n due times after an instant, and the time zone of the schedule. An @every schedule counts
// from the Anchor, as in a controller. If the Anchor of a cron schedule lies after that instant, Next still counts from
// the instant.
func (z *ZoneRules) Next(t Timing, after time.Time, n int) (due []time.Time, zone *time.Location, err error) {
	s, zone, err := z.Schedule(t.Schedule, t.TimeZone, t.Hash)
	if err != nil {
		return nil, nil, err
	}
	if anchor := t.Anchor.Go(); s.Every() || !after.Before(anchor) {
		after = s.Counted(anchor, after)
	}
	for at := s.Next(after); !at.IsZero() && len(due) < n; at = s.Next(at) {
		due = append(due, at)
	}
	return due, zone, nil
}
