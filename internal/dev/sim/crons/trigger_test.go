package crons

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
)

// TestATriggerIsNotLost: a run on request is carried out once, even if its create was lost or the controller was
// killed, since no due time would bring it back. It is told as refused if it cannot be made any more, or if the API
// server does not make it within a minute.
func TestATriggerIsNotLost(t *testing.T) {
	for _, row := range []struct {
		sentence  string
		first     answer
		times     int // number of creates with this answer
		meanwhile func(*world, *cron)
		fate      events.TickFate
	}{
		{"the create is lost", lost, 1, nil, events.TickTriggered},
		{"the answer to the create is lost", unheard, 1, nil, events.TickTriggered},
		{"the create comes late", belated, 1, nil, events.TickTriggered},
		{"the controller is killed, and starts again after minutes", lost, 1, func(w *world, _ *cron) {
			w.end()
			w.after(5*time.Minute, w.begin)
		}, events.TickTriggered},
		{"the API server fails once", failed, 1, nil, events.TickTriggered},
		{"the API server fails for an hour", failed, 1000, nil, events.TickRefused},
		{"the CronJob is being deleted meanwhile", lost, 1, func(w *world, c *cron) {
			w.edit(c, func(f *events.CronJobSeen) { f.Deleted = w.now() })
		}, events.TickRefused},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			w := newWorld(t, 1)
			c := w.add()
			c.by = &timetable{}
			c.by.read("", "0", "0", "1", "12", "*")
			c.facts.Schedule, c.facts.TimeZone, c.facts.Deadline, c.facts.Policy, w.ending = c.by.text, nil, nil, "Allow", true
			creates := 0
			w.script = func(command events.Command) (answer, time.Duration) {
				if _, create := command.(*events.CreateJob); create {
					creates++
				}
				if creates == 0 || creates > row.times || command.Traits().Reads {
					return taken, 0
				}
				if row.first == failed {
					return failed, 0
				}
				if row.meanwhile != nil {
					w.after(0, func() { row.meanwhile(w, c) })
				}
				return row.first, 20 * time.Minute
			}
			w.begin()
			by := w.now()
			w.edit(c, func(f *events.CronJobSeen) { f.Trigger = &events.RunTrigger{Value: "value", Asked: by, By: asker} })
			w.run(w.true.Add(time.Hour))
			w.edit(c, func(f *events.CronJobSeen) { f.KeepFailed = nil })
			w.run(w.true.Add(time.Hour))
			if c.counts[row.fate] != 1 || c.answered != 1 || len(c.untold) > 0 {
				t.Errorf("fates %v, untold %v, want the fate %d once\n%s", c.counts, c.untold, row.fate, w.newest.of(c.stream))
			}
		})
	}
}
