package reconciler_test

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/rules"
)

// cronJobAt returns a CronJob of a world that was shown it at a time.
func cronJobAt(t *testing.T, at time.Time, seen events.CronJobSeen) *projector.CronJob {
	t.Helper()
	w, stream := projector.NewWorld(), events.CronJobStream("00000000-0000-4000-8000-000000000016")
	settings := events.DefaultSettings()
	settings.Mode, settings.CronJobs = events.ModeAll, true
	for i, r := range []events.Record{
		{Header: events.Header{Kind: events.KindControllerStarted, Stream: events.Controller}, Facts: &events.ControllerStarted{Settings: settings}},
		{Header: events.Header{Kind: events.KindCronJobAdded, Stream: stream}, Facts: &seen, Evidence: events.Evidence{Namespace: "ns", Name: "demo"}},
	} {
		r.Sequence, r.Time = events.Sequence(i+1), events.At(at)
		w.Apply(&r)
	}
	return w.CronJob(stream)
}

// C-070: a decision has one time. The due time, its deadline, the time of the next look and the ledger are all computed
// from it. Here it is not the time of the newest record.
func TestADecisionAboutACronJobHasOneTime(t *testing.T) {
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	seen := events.CronJobSeen{
		Version: 1, Created: events.At(day.Add(7*time.Hour + 30*time.Minute)), Schedule: "0 * * * *", Policy: "Allow", Deadline: new(int64(60)), Template: "t",
	}
	for _, row := range []struct {
		sentence  string
		now, wake time.Duration // since midnight
		due       time.Duration // 0 for none
		open      time.Duration
	}{
		{"before it is due", 9*time.Hour - time.Nanosecond, 9*time.Hour + 100*time.Millisecond, 0, 0},
		{"when it is due", 9 * time.Hour, 10*time.Hour + 100*time.Millisecond, 9 * time.Hour, 9 * time.Hour},
		{"just before its deadline", 9*time.Hour + time.Minute - time.Nanosecond, 10*time.Hour + 100*time.Millisecond, 9 * time.Hour, 9 * time.Hour},
		{"at its deadline", 9*time.Hour + time.Minute, 10*time.Hour + 100*time.Millisecond, 0, 0},
	} {
		c := cronJobAt(t, day.Add(8*time.Hour+2*time.Minute), seen)
		d := rules.DecideAt(c, events.At(day.Add(row.now)))
		var due, open time.Duration
		for _, s := range d.Steps {
			if s.Cron != nil && s.Cron.Ledger != nil && s.Cron.Ledger.Open != 0 {
				open = s.Cron.Ledger.Open.Go().Sub(day)
			}
			for _, command := range s.Commands {
				due = command.(*events.CreateJob).Due.Go().Sub(day)
			}
		}
		if wake := d.Wake.Go().Sub(day); due != row.due || open != row.open || wake != row.wake {
			t.Errorf("%s: due %s, open %s, wake %s; want %s, %s, %s", row.sentence, due, open, wake, row.due, row.open, row.wake)
		}
	}
}
