package crons

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/projector"
)

// places are zones with clock changes by whole hours, at the beginning of an hour, and not at midnight. There the
// schedules of the library are due at each minute that matches, and at no other. internal/subject/zones and
// internal/subject/schedule test other zones.
var places = []string{
	"", "", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Asia/Kolkata", "Africa/Casablanca", "Australia/Sydney",
	"Pacific/Auckland", "Europe/Dublin", "Asia/Kathmandu", "America/St_Johns",
}

var policies = []string{"Allow", "Forbid", "Replace"}

// Numbers of due times and of days: for CI, and with JOBLEDGER_LONG.
const (
	dueTimes, lived         = 20_000, 180
	dueTimesLong, livedLong = 20_000_000, 365
)

// TestAYear lives through a year of CronJobs (half a year without JOBLEDGER_LONG, a quarter in make test), world after world until enough due
// times have passed. It has random schedules and zones, a controller that is down for three tenths of the time, edits,
// suspensions, a clock that is set, slow and refused creates, and requests that fail, end unknown or come late. Each
// due time has one fate, no other instant has one, and no Job is made twice. The test counts the due times by a walk
// over the minutes of the year.
func TestAYear(t *testing.T) {
	t.Parallel()
	least, days := dueTimes, lived/effort.Step(2)
	if effort.IsLong() {
		least, days = dueTimesLong, livedLong
	}
	fates, due, records, late := map[events.TickFate]int{}, 0, 0, 0
	seed := uint64(0)
	for ; due < least; seed++ {
		w := newWorld(t, seed)
		w.year(seed, days)
		for _, c := range w.crons {
			due += c.due
			for fate, n := range c.counts {
				fates[fate] += n
			}
		}
		records += int(w.next)
		late += w.late
		if t.Failed() {
			return
		}
	}
	t.Logf("%d due times in %d worlds, %d records, %d late requests: %v", due, seed, records, late, fates)
	for f := events.TickStarted; f <= events.TickTriggered; f++ {
		if fates[f] == 0 {
			t.Errorf("no due time has the fate %d", f)
		}
	}
}

// year lives through so many days, and checks at the end that everything was told.
func (w *world) year(seed uint64, days int) {
	defer func() {
		if w.t.Failed() {
			w.t.Logf("seed %d, at %s\n%s", seed, w.true, w.newest.of(w.deciding.stream))
		}
	}()
	w.inhabit(5)
	w.begin()
	w.run(w.true.AddDate(0, 0, days))
	until := w.quiet()
	for _, c := range w.crons {
		if !c.gone {
			c.conclude(w.t, until)
		}
	}
}

// inhabit makes CronJobs, and plans changes of them.
func (w *world) inhabit(n int) {
	for range n {
		w.add()
	}
	var down, up func()
	down = func() {
		if w.ending {
			return
		}
		w.end()
		w.after(w.spell(0.3), up)
	}
	up = func() {
		w.begin()
		w.after(w.spell(0.7), down)
	}
	w.after(time.Hour, down)
	var clock func()
	clock = func() {
		if w.ending {
			return
		}
		if w.up && w.r.IntN(2) == 0 {
			w.step(time.Duration(w.r.IntN(1200)-600) * time.Second)
		}
		w.after(time.Duration(w.r.IntN(14*24))*time.Hour, clock)
	}
	w.after(time.Hour, clock)
}

// spell returns how long the controller is up or down: some hours, and now and then minutes.
func (w *world) spell(share float64) time.Duration {
	most := 16 * time.Hour
	if w.r.IntN(4) == 0 {
		most = time.Hour
	}
	return time.Duration(w.r.Float64() * share * float64(most))
}

// add makes a CronJob.
func (w *world) add() *cron {
	w.version++
	c := &cron{uid: types.UID(fmt.Sprintf("cron-%d", len(w.crons)))}
	c.stream = events.CronJobStream(c.uid)
	c.facts = events.CronJobSeen{
		Version: w.version, Generation: 1, Created: events.Time(w.true.UnixNano()).Second(),
		KeepSucceeded: new(int32(3)), KeepFailed: new(int32(1)), Template: "t",
	}
	w.reschedule(c)(&c.facts)
	c.begin(c.facts.Created)
	w.crons = append(w.crons, c)
	w.plan(c)
	return c
}

// reschedule gives a CronJob another schedule.
func (w *world) reschedule(c *cron) func(*events.CronJobSeen) {
	return func(f *events.CronJobSeen) {
		f.TimeZone, f.Deadline = nil, nil
		if w.r.IntN(2) == 0 {
			f.Deadline = new(int64(w.r.IntN(7200)))
		}
		c.by = randomTimetable(w.r, f.Deadline != nil) // a deadline moves the due times of @every (C-084)
		f.Schedule = c.by.text
		f.Policy = policies[w.r.IntN(len(policies))]
		if place := places[w.r.IntN(len(places))]; place != "" {
			f.TimeZone = &place
		}
	}
}

// plan schedules changes of a CronJob, now and then.
func (w *world) plan(c *cron) {
	w.after(time.Duration(w.r.IntN(4*24*60))*time.Minute, func() {
		if !w.ending && !c.gone {
			w.meddle(c)
			w.plan(c)
		}
	})
}

// meddle makes a random change, as a user.
func (w *world) meddle(c *cron) {
	minutes := func(most int) time.Duration { return time.Duration(w.r.IntN(most)) * time.Minute }
	switch w.r.IntN(16) {
	case 0, 1, 2, 3:
		w.edit(c, w.reschedule(c))
	case 4, 5, 6:
		w.edit(c, func(f *events.CronJobSeen) { f.Suspend = true })
		w.after(minutes(24*60), func() { w.edit(c, func(f *events.CronJobSeen) { f.Suspend = false }) })
	case 7, 8:
		w.edit(c, func(f *events.CronJobSeen) { f.Policy = policies[w.r.IntN(len(policies))] })
	case 9:
		w.edit(c, func(f *events.CronJobSeen) { f.KeepSucceeded = new(int32(w.r.IntN(4))) })
	case 10, 11:
		c.refused = w.true.Add(minutes(120))
	case 12:
		by := w.now()
		w.edit(c, func(f *events.CronJobSeen) {
			f.Trigger = &events.RunTrigger{Value: fmt.Sprint(by), Asked: by, By: asker}
		})
	case 13:
		w.instantiate(c)
	case 14:
		w.squat(c)
	case 15:
		if w.r.IntN(4) == 0 {
			w.drop(c)
			w.edit(w.add(), func(*events.CronJobSeen) {}) // a running controller sees it at once
		}
	}
}

// instantiate makes a Job by hand, as kubectl create job --from does.
func (w *world) instantiate(c *cron) {
	j := w.make(c, fmt.Sprintf("%s-%d", byHand, w.version))
	j.facts.Manual, j.facts.By = true, "kubectl"
	c.create(w.t, j.facts.Job, 0, false)
	w.tell(j)
}

// squat takes the names of the Jobs of the next 20 minutes.
func (w *world) squat(c *cron) {
	minute := w.true.Unix()/60 + 1
	for i := range int64(20) {
		if name := fmt.Sprintf("%s-%d", c.uid, minute+i); w.jobs[name] == nil {
			w.make(nil, name)
		}
	}
}

// drop deletes a CronJob, and its Jobs.
func (w *world) drop(c *cron) {
	w.version++
	c.gone = true
	version := w.version
	c.leave()
	for _, name := range w.names() {
		if j := w.jobs[name]; j.owner == c {
			w.remove(j)
		}
	}
	w.alive(time.Duration(w.r.IntN(30))*time.Millisecond, func() {
		if s := w.world.CronJob(c.stream); s != nil && !s.Gone {
			w.input(projector.Draft{Stream: c.stream, Kind: events.KindCronJobDeleted, Facts: &events.CronJobGone{Version: version}})
		}
	})
}

// quiet suspends all CronJobs, and waits until no run is being started. It returns the time.
func (w *world) quiet() (until events.Time) {
	w.ending = true
	w.run(w.true.Add(24 * time.Hour)) // all plans are over by then
	if !w.up {
		w.begin()
	}
	for _, suspend := range []bool{false, true} { // a suspended CronJob tells missed due times when it goes on
		for _, c := range w.crons {
			if !c.gone {
				w.version++
				c.facts.Version, c.facts.Suspend = w.version, suspend
				w.input(w.admit(c)...)
			}
		}
		until = w.now()
		w.run(w.true.Add(2 * time.Hour))
	}
	return until
}
