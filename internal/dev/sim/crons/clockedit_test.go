package crons

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// TestSeedsOfClocksAndEdits: users change schedules and zones, and the controller's clock is set, again and again. Each
// time a look at the CronJob is pending by its next due time, of the present schedule and by the present clock, and not
// later (C-089, C-093, C-248).
func TestSeedsOfClocksAndEdits(t *testing.T) {
	texts := []string{"*/10 * * * *", "7 * * * *", "0 */3 * * *", "30 2 * * *", "0 0 * * *"}
	zones := []*string{nil, new("UTC"), new("Asia/Kolkata"), new("America/New_York")}
	for seed := range uint64(60) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			m := newMachine(t, seed)
			m.pass(clockAt(0).Add(50 * time.Minute))
			m.start()
			m.create("c", &batchv1.CronJobSpec{Schedule: texts[m.r.IntN(len(texts))], JobTemplate: template(true)})
			for range 30 {
				m.pass(m.world.Clock.Now().Add(time.Duration(m.r.IntN(1200)) * time.Second))
				for range 1 + m.r.IntN(3) { // some changes within one moment
					switch m.r.IntN(3) {
					case 0:
						m.edit("c", func(c *batchv1.CronJob) { c.Spec.Schedule = texts[m.r.IntN(len(texts))] })
					case 1:
						m.edit("c", func(c *batchv1.CronJob) { c.Spec.TimeZone = zones[m.r.IntN(len(zones))] })
					case 2:
						m.step(time.Duration(m.r.IntN(3600)-1800) * time.Second)
						m.checker.ClockSet(m.offset)
					}
					m.pass(m.world.Clock.Now().Add(time.Millisecond))
					m.must(m.checker.Pending(m.now().Go(), m.process.Loop.Wake().Go()))
				}
			}
		})
	}
}
