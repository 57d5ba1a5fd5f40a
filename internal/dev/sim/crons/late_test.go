package crons

import (
	"fmt"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
)

// TestALateCreate: the outcome of a create is unknown, a live read does not find its Job, and then the request reaches
// the API server. The Job is the start of its due time, whatever was decided meanwhile: it is active, it is told once,
// and no Event calls it unexpected (C-103, C-113, C-160, C-221).
func TestALateCreate(t *testing.T) {
	for _, row := range []struct {
		sentence  string
		meanwhile func(*world, *cron)
		fate      events.TickFate
		last      time.Time // status.lastScheduleTime at the end
	}{
		{"its due time is open still", func(w *world, c *cron) { c.refused = w.true.Add(2 * time.Minute) }, events.TickStarted, clockAt(1)},
		{"it was suspended", func(w *world, c *cron) { w.edit(c, func(f *events.CronJobSeen) { f.Suspend = true }) }, events.TickStarted, clockAt(1)},
		{"its deadline is over", func(w *world, c *cron) {
			w.edit(c, func(f *events.CronJobSeen) { f.Deadline, f.Suspend = new(int64(30)), true })
			w.after(time.Minute, func() { w.edit(c, func(f *events.CronJobSeen) { f.Suspend = false }) })
		}, events.TickAgain, clockAt(1)},
		{"its schedule was changed", func(w *world, c *cron) {
			w.edit(c, func(f *events.CronJobSeen) {
				c.by = &timetable{}
				c.by.read("", "30", "*", "*", "*", "*")
				f.Schedule = c.by.text
			})
		}, events.TickAgain, clockAt(1)},
		{"the controller is down when it comes", func(w *world, c *cron) {
			w.end()
			w.after(20*time.Minute, w.begin)
		}, events.TickStarted, clockAt(1)},
		{"the controller is killed and starts again", func(w *world, c *cron) {
			w.end()
			c.refused = w.true.Add(2 * time.Minute)
			w.after(time.Second, w.begin)
		}, events.TickStarted, clockAt(1)},
		{"a later one has started before", func(w *world, c *cron) {
			w.edit(c, func(f *events.CronJobSeen) { f.Suspend = true })
			w.after(time.Minute, func() {
				w.step(time.Hour)
				w.edit(c, func(f *events.CronJobSeen) { f.Suspend = false })
			})
		}, events.TickAgain, clockAt(2)},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			w := newWorld(t, 1)
			w.true = clockAt(0).Add(59*time.Minute + 30*time.Second)
			c := w.add()
			c.by = &timetable{}
			c.by.read("", "0", "*", "*", "*", "*")
			c.facts.Schedule, c.facts.TimeZone, c.facts.Deadline, c.facts.Policy, w.ending = c.by.text, nil, nil, "Allow", true
			creates, reads := 0, 0
			w.script = func(command events.Command) (answer, time.Duration) {
				switch command.(type) {
				case *events.CreateJob:
					if creates++; creates == 1 {
						return belated, 5 * time.Minute
					}
				case *events.ReadRun:
					if reads++; reads == 1 {
						w.after(0, func() { row.meanwhile(w, c) })
					}
				}
				return taken, 0
			}
			w.begin()
			w.run(w.true.Add(time.Minute + 4*time.Second))
			if creates == 0 || reads == 0 {
				t.Fatalf("%d creates and %d reads", creates, reads)
			}
			w.run(w.true.Add(25 * time.Minute))
			name := fmt.Sprintf("%s-%d", c.uid, clockAt(1).Unix()/60)
			if w.jobs[name] == nil || w.late != 1 {
				t.Fatalf("the late request has made no Job %s: %d creates\n%s", name, creates, w.newest.of(c.stream))
			}
			if c.counts[row.fate] == 0 || len(c.untold) > 0 {
				t.Errorf("fates %v, untold Jobs %v; want the fate %d\n%s", c.counts, c.untold, row.fate, w.newest.of(c.stream))
			}
			if last := c.facts.LastSchedule.Go(); !last.Equal(row.last) {
				t.Errorf("the status says %s, want %s", last, row.last)
			}
		})
	}
}

// clockAt returns an hour of the first day.
func clockAt(hour int) time.Time { return time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC) }
