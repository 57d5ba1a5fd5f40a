package crons

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

var (
	schedules = []string{
		"* * * * *", "* * * * *", "*/2 * * * *", "*/7 * * * *", "0 9,10,11 * * 1-5", "30 2 * * *", "0 0 13 * 5", "@hourly", "15 1-3 * * *", "@every 37m",
	}
	places   = []string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Tokyo", "Africa/Cairo"}
	policies = []string{"Allow", "Forbid", "Replace"}
)

// TestAYear lives through days of some worlds, or with JOBLEDGER_LONG through a year of CronJobs: random schedules and zones, a controller that is down for three tenths of the time, edits,
// suspensions, a clock that is set, slow creates, requests that fail or whose end is not known. Each due time has one fate, no other
// instant has one, and no Job is made twice.
func TestAYear(t *testing.T) {
	worlds, days, least, due := 8, 5, 20_000, 0
	if os.Getenv("JOBLEDGER_LONG") != "" {
		worlds, days, least = 20, 365, 5_000_000
	}
	fates := map[events.TickFate]int{}
	records := 0
	for seed := range uint64(worlds) {
		w := newWorld(t, seed)
		w.inhabit(3)
		w.begin()
		w.run(w.true.AddDate(0, 0, days))
		until := w.quiet()
		for _, c := range w.crons {
			c.conclude(t, until)
			due += c.total
			for fate, n := range c.counts {
				fates[fate] += n
			}
		}
		records += w.records
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d due times, %d records: %v", due, records, fates)
	if due < least {
		t.Errorf("only %d due times", due)
	}
	for _, f := range []events.TickFate{events.TickStarted, events.TickMerged, events.TickTooLate, events.TickUnwatched, events.TickReplaced} {
		if fates[f] == 0 { // others are rare
			t.Errorf("no due time has the fate %d", f)
		}
	}
}

// inhabit makes CronJobs, and plans what happens to them.
func (w *world) inhabit(n int) {
	for i := range n {
		c := &cron{uid: types.UID(fmt.Sprintf("cron-%d", i))}
		w.version++
		c.facts = events.CronJobSeen{
			Version: w.version, Generation: 1, Created: events.Time(w.true.UnixNano()).Second(),
			KeepSucceeded: new(int32(3)), KeepFailed: new(int32(1)), Template: "t",
		}
		w.reschedule(&c.facts)
		if i == 0 {
			c.facts.Schedule = "* * * * *"
		}
		c.begin(&c.facts)
		w.crons = append(w.crons, c)
		w.plan(c)
	}
	var down, up func()
	down = func() {
		if w.ending {
			return
		}
		w.end()
		w.after(time.Duration(w.r.IntN(60*60))*time.Second*6/10, up)
	}
	up = func() {
		w.begin()
		w.after(time.Duration(w.r.IntN(60*60))*time.Second*14/10, down)
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

func (w *world) reschedule(f *events.CronJobSeen) {
	f.Schedule, f.TimeZone, f.Deadline = schedules[w.r.IntN(len(schedules))], nil, nil
	f.Policy = policies[w.r.IntN(len(policies))]
	if place := places[w.r.IntN(len(places))]; place != "" && !strings.HasPrefix(f.Schedule, "*") { // a zone costs much to look up: none for what is due all the time
		f.TimeZone = &place
	}
	if f.Schedule != "@every 37m" && w.r.IntN(2) == 0 {
		f.Deadline = new(int64(w.r.IntN(7200)))
	}
}

// plan has the CronJob changed now and then.
func (w *world) plan(c *cron) {
	w.after(time.Duration(w.r.IntN(2*24*60))*time.Minute, func() {
		if w.ending {
			return
		}
		switch w.r.IntN(3) {
		case 0:
			w.edit(c, w.reschedule)
		case 1:
			w.edit(c, func(f *events.CronJobSeen) { f.Suspend = true })
			w.after(time.Duration(w.r.IntN(24*60))*time.Minute, func() { w.edit(c, func(f *events.CronJobSeen) { f.Suspend = false }) })
		case 2:
			w.edit(c, func(f *events.CronJobSeen) { f.Policy = policies[w.r.IntN(len(policies))] })
		}
		w.plan(c)
	})
}

// quiet suspends all CronJobs and waits until no run is being started. It says when.
func (w *world) quiet() (until events.Time) {
	w.ending = true
	w.run(w.true.Add(12 * time.Hour)) // what was planned is over by then
	if !w.up {
		w.begin()
	}
	for _, suspend := range []bool{false, true} { // a suspended one tells what has passed when it goes on
		for _, c := range w.crons {
			w.version++
			c.facts.Version, c.facts.Suspend = w.version, suspend
			w.input(w.admit(c)...)
		}
		until = w.now()
		w.run(w.true.Add(time.Hour))
	}
	return until
}
