package crons

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
)

// TestZonesOutliveFiles: the rules of a zone were stored in a file that a start does not read any more. The CronJob
// still goes on in its zone.
func TestZonesOutliveFiles(t *testing.T) {
	m := newMachine(t, 1)
	m.start()
	m.create("zoned", &batchv1.CronJobSpec{Schedule: "0 12 * * *", TimeZone: new("Asia/Tokyo"), JobTemplate: template(true)})
	for i := range 8 {
		m.create(fmt.Sprintf("busy-%d", i), &batchv1.CronJobSpec{Schedule: "* * * * *", JobTemplate: template(true)})
	}
	m.pass(clockAt(2))
	m.kill()
	m.start()
	if from := m.process.Loop.World().CronJobs(); len(from) != 9 {
		t.Fatalf("%d CronJobs are known", len(from))
	}
	files := 0
	m.pass(clockAt(3).Add(time.Second)) // noon in Tokyo
	if c := m.world.Server.CronJob("default", "zoned"); c.Status.LastScheduleTime == nil || !c.Status.LastScheduleTime.Time.Equal(clockAt(3)) {
		t.Errorf("the status says %+v", c.Status)
	}
	m.replayed(func(rec *events.Record) {
		if rec.Kind == events.KindFileRestated {
			files++
		}
	})
	if files < 2 {
		t.Errorf("%d files stand alone: the start had no reason to begin with a later one", files)
	}
}
