package controller

import (
	"time"

	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/zones"
	"github.com/jobledger/jobledger/projector"
)

// Limits of the comparison, at a start, of CronJobs in time zones whose rules have changed.
const (
	comparedTicks = 100             // due times (instants of the schedule) compared for each CronJob
	namedMoved    = 20              // largest number of CronJobs that the log message names
	compareWithin = 2 * time.Second // time for comparing all CronJobs
)

// movedCronJob is a CronJob whose next due times differ, because its time zone has other rules in the program's
// database than in the log.
type movedCronJob struct {
	namespace, name, zone string
	schedule.Moved
	lacks bool // the database does not have the time zone, so the CronJob starts nothing
}

// zoneReport is the result of comparing, at a start, the time zone rules in the log with those of the program's
// database.
type zoneReport struct {
	others int            // CronJobs in time zones whose rules differ
	moved  []movedCronJob // of these, the CronJobs whose next due times differ, or that start nothing any more
	passed int            // of these, the CronJobs that were not compared, because it took too long
}

// reportZones logs which CronJobs have other due times from now on, because this program's time zone database differs
// from that of the previous run. The new rules are recorded when the CronJobs are seen in the cluster, and apply from
// then on.
func (c *controller) reportZones(world *projector.World) {
	if !c.settings.CronJobs {
		return
	}
	end := time.Now().Add(compareWithin)
	r := compareZones(world, zones.Find, time.Now(), func() bool { return time.Now().After(end) })
	c.metrics.moved.Store(int64(len(r.moved)))
	if r.others == 0 {
		return
	}
	for i := range r.moved[:min(len(r.moved), namedMoved)] {
		m := &r.moved[i]
		if m.lacks {
			c.logger.Error("the time zone database of this program does not have the zone: the CronJob starts nothing",
				"namespace", m.namespace, "cronjob", m.name, "zone", m.zone)
			continue
		}
		c.logger.Warn("the time zone database of this program has other rules: due times of the CronJob differ",
			"namespace", m.namespace, "cronjob", m.name, "zone", m.zone, "differ", m.Count, "ofTheNext", comparedTicks,
			"first", stamp(m.Is), "was", stamp(m.Was))
	}
	c.logger.Info("zones of CronJobs have other rules than recorded: due times count by the new ones from here on",
		"database", zones.Version(), "cronjobs", r.others, "withOtherDueTimes", len(r.moved), "notCompared", r.passed)
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339)
}

// compareZones compares, for each CronJob, the zone rules in the log with the rules that find returns, and returns
// which CronJobs have other due times. It stops comparing when enough returns true.
func compareZones(world *projector.World, find func(name string) (zones.Rules, bool), now time.Time, enough func() bool) (r zoneReport) {
	known := map[string]*zones.Rules{} // nil for a zone that find does not know
	located := map[string]*time.Location{}
	results := map[string]schedule.Moved{}
	locate := func(name string) (*time.Location, error) {
		if in := located[name]; in != nil {
			return in, nil
		}
		rules := known[name]
		if rules == nil {
			return nil, schedule.UnknownZone(name)
		}
		in, err := schedule.Load(name, rules.TZif)
		located[name] = in
		return in, err
	}
	for _, c := range world.CronJobs() {
		m := movedCronJob{namespace: c.Ref.Namespace, name: c.Ref.Name}
		key := c.Seen.Schedule
		for _, z := range c.Seen.Zones {
			if _, asked := known[z.Name]; !asked {
				known[z.Name] = nil
				if rules, ok := find(z.Name); ok {
					known[z.Name] = &rules
				}
			}
			rules := known[z.Name]
			if rules == nil || rules.Hash != z.Hash {
				m.zone, m.lacks = z.Name, m.lacks || rules == nil
			}
			key += "\x00" + z.Name + "\x00" + z.Hash
		}
		if m.zone == "" || c.Gone || c.Plan().Err != nil {
			continue
		}
		r.others++
		if m.lacks {
			r.moved = append(r.moved, m)
			continue
		}
		moved, compared := results[key]
		if !compared {
			if enough() {
				r.passed++
				continue
			}
			by, err := reread(c, locate)
			if err != nil {
				continue // the schedule cannot be parsed with the new rules
			}
			moved = schedule.Compare(c.Plan().Schedule, by, now, comparedTicks)
			results[key] = moved
		}
		if m.Moved = moved; m.Count > 0 {
			r.moved = append(r.moved, m)
		}
	}
	return r
}

// reread parses the schedule of a CronJob again, with the time zone rules that locate returns.
func reread(c *projector.CronJob, locate schedule.Zones) (schedule.Schedule, error) {
	var in *time.Location
	if zone := c.Seen.TimeZone; zone != nil {
		var err error
		if in, err = schedule.Locate(*zone, locate); err != nil {
			return schedule.Schedule{}, err
		}
	}
	return schedule.Parse(c.Seen.Schedule, in, locate)
}
