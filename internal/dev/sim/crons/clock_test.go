package crons

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
)

// TestAClockThatIsSet: a step of the clock does not move due times. A due time that has come by the new time starts at
// once; a future one starts when it comes, once (C-225). A replay finds the same.
func TestAClockThatIsSet(t *testing.T) {
	for _, row := range []struct {
		sentence string
		step     time.Duration
		due      time.Time
	}{
		{"forward, past a due time", 20 * time.Minute, clockAt(1)},
		{"forward, and the due time is still to come", 5 * time.Minute, clockAt(1)},
		{"back, and the due time is further away", -20 * time.Minute, clockAt(1)},
		{"forward, past two", 80 * time.Minute, clockAt(2)},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			m := newMachine(t, 1)
			m.pass(clockAt(0).Add(50 * time.Minute))
			m.start()
			m.create("c", &batchv1.CronJobSpec{Schedule: "0 * * * *", JobTemplate: template(true)})
			m.pass(clockAt(0).Add(50*time.Minute + time.Second))
			m.step(row.step)
			begin := m.world.Clock.Now()
			want := row.due.Add(-m.offset).Add(200 * time.Millisecond)
			if want.Before(begin) {
				want = begin.Add(time.Millisecond)
			}
			m.pass(want)
			if c := m.world.Server.CronJob("default", "c"); c.Status.LastScheduleTime == nil || !c.Status.LastScheduleTime.Time.Equal(row.due) {
				t.Fatalf("at %s by the controller's clock the status says %+v, want a run of %s", m.now().Go(), c.Status, row.due)
			}
			m.pass(m.world.Clock.Now().Add(10 * time.Minute))
			started := 0
			m.replayed(func(rec *events.Record) {
				for _, tick := range ticksOf(rec) {
					if tick.Fate == events.TickStarted {
						started++
					}
				}
			})
			if started != 1 {
				t.Errorf("%d runs have started", started)
			}
		})
	}
}

// ticksOf returns the fates that a record tells.
func ticksOf(rec *events.Record) (all []events.Tick) {
	if d, ok := rec.Facts.(*events.Decision); ok && rec.Kind == events.KindDecided {
		for i := range d.Steps {
			if said := d.Steps[i].Cron; said != nil {
				all = append(all, said.Ticks...)
			}
		}
	}
	return all
}
