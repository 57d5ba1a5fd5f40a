package crons

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/subject/zones"
)

// C-043, C-044: a controller starts with a time zone database that has other rules for a zone. It records these rules;
// from then on due times count by them and name them, and a record says what differs. An open due time that both rules
// have stays open.
func TestOtherRules(t *testing.T) {
	m := newMachine(t, 1)
	m.start()
	long := template(false)
	long.Spec.Template.Annotations = map[string]string{kubelet.AnnotationRunFor: "90m", kubelet.AnnotationOutcome: kubelet.OutcomeSucceed}
	m.create("forbids", &batchv1.CronJobSpec{Schedule: "0 * * * *", TimeZone: new("Europe/Berlin"), ConcurrencyPolicy: "Forbid", JobTemplate: long})
	m.create("daily", &batchv1.CronJobSpec{Schedule: "0 12 * * *", TimeZone: new("Europe/Berlin"), JobTemplate: template(true)})
	m.pass(clockAt(2).Add(10 * time.Minute)) // the run of 01:00 goes on, and the due time 02:00 is open
	m.kill()
	other, ok := zones.Find("Africa/Lagos") // which shows the same in winter
	if !ok {
		t.Fatal("no rules of Africa/Lagos")
	}
	m.rules = func(z *events.ZoneRules) {
		if z.Name == "Europe/Berlin" {
			z.TZif, z.Hash = other.TZif, other.Hash
		}
	}
	m.start()
	m.pass(clockAt(2).Add(40 * time.Minute))
	summer := time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC)
	m.edit("forbids", func(c *batchv1.CronJob) { c.Spec.Suspend = new(true) })
	m.pass(summer)
	changed, started := 0, map[events.Time]string{}
	m.replayed(func(rec *events.Record) {
		if d, ok := rec.Facts.(*events.Decision); ok && rec.Kind == events.KindDecided {
			for _, s := range d.Steps {
				if s.Reason == "ZoneChanged" {
					changed++
					if !strings.Contains(s.Sentence, "its clocks differ from 2026-03-29T01:00:00Z on") {
						t.Errorf("the record says %q", s.Sentence)
					}
				}
			}
		}
		for _, tick := range ticksOf(rec) {
			switch {
			case tick.Fate == events.TickStarted:
				started[tick.First] = tick.Zone
			case tick.Fate == events.TickAgain || tick.Fate == events.TickReplaced:
				t.Errorf("%s has the fate %d", tick.First.Go(), tick.Fate)
			}
		}
	})
	if changed != 2 {
		t.Errorf("%d records say that the rules are other ones", changed)
	}
	berlin, _ := zones.Find("Europe/Berlin")
	for at, want := range map[time.Time]string{
		clockAt(1): berlin.Hash, clockAt(2): other.Hash,
		time.Date(2026, 3, 30, 11, 0, 0, 0, time.UTC): other.Hash, // noon in Lagos; by the old rules 10:00 UTC
	} {
		if got := started[events.At(at)]; got != want {
			t.Errorf("the run of %s has the rules %q, want %q", at, got, want)
		}
	}
}
