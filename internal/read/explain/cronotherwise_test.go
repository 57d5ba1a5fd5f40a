package explain_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

func cronSpec(change func(f *events.CronJobSeen)) func(r *events.Record) {
	return func(r *events.Record) {
		if f, ok := r.Facts.(*events.CronJobSeen); ok {
			seen := *f
			change(&seen)
			r.Facts = &seen
		}
	}
}

func cronRun(change func(f *events.RunSeen)) func(r *events.Record) {
	return func(r *events.Record) {
		if f, ok := r.Facts.(*events.RunSeen); ok {
			run := *f
			change(&run)
			r.Facts = &run
		}
	}
}

func ticks(change func(t *events.Tick)) func(r *events.Record) {
	return decision(func(s *events.Step) {
		if s.Cron == nil {
			return
		}
		cron := *s.Cron
		cron.Ticks = slices.Clone(cron.Ticks)
		for i := range cron.Ticks {
			change(&cron.Ticks[i])
		}
		s.Cron = &cron
	})
}

func becomes(fate events.TickFate) func(r *events.Record) {
	return ticks(func(t *events.Tick) {
		if t.Fate == events.TickStarted {
			t.Fate = fate
		}
	})
}

// cronsOtherwise are changes of the records of CronJobs.
var cronsOtherwise = []otherwise{
	{"the policy is Replace", cronSpec(func(f *events.CronJobSeen) { f.Policy = "Replace" })},
	{"the policy is Allow", cronSpec(func(f *events.CronJobSeen) { f.Policy = "Allow" })},
	{"a deadline is set", cronSpec(func(f *events.CronJobSeen) { f.Deadline = new(int64(30)) })},
	{"no deadline is set", cronSpec(func(f *events.CronJobSeen) { f.Deadline = nil })},
	{"it is suspended", cronSpec(func(f *events.CronJobSeen) { f.Suspend = true })},
	{"the schedule is no schedule", cronSpec(func(f *events.CronJobSeen) { f.Schedule = "soon" })},
	{"the zone is no zone", cronSpec(func(f *events.CronJobSeen) { f.TimeZone = new("Nowhere/Else") })},
	{"it is being deleted", cronSpec(func(f *events.CronJobSeen) { f.Deleted = f.Created.Add(5 * time.Minute) })},
	{"no Jobs are kept", cronSpec(func(f *events.CronJobSeen) { f.KeepSucceeded, f.KeepFailed = new(int32), new(int32) })},
	{"a run is asked for", cronSpec(func(f *events.CronJobSeen) { f.Trigger = &events.RunTrigger{By: "anna by kubectl"} })},
	{"all its Jobs failed", cronRun(func(f *events.RunSeen) {
		if f.Result != events.ResultNone {
			f.Result, f.Succeeded = events.ResultFailed, false
		}
	})},
	{"all its Jobs are complete", cronRun(func(f *events.RunSeen) {
		if f.Result != events.ResultNone {
			f.Result, f.Succeeded = events.ResultComplete, true
		}
	})},
	{"none of its Jobs has ended", cronRun(func(f *events.RunSeen) { f.Result, f.Succeeded, f.Completed = events.ResultNone, false, 0 })},
	{"its Jobs are made by hand", cronRun(func(f *events.RunSeen) { f.Manual, f.By = true, "kubectl-create" })},
	{"its Jobs have no due times", cronRun(func(f *events.RunSeen) { f.Due = 0 })},
	{"its Jobs are not its own any more", func(r *events.Record) {
		if f, ok := r.Facts.(*events.RunGone); ok {
			r.Facts = &events.RunGone{Job: f.Job, Version: f.Version, Left: true}
		}
	}},
	{"what started was too late", becomes(events.TickTooLate)},
	{"what started was refused", becomes(events.TickRefused)},
	{"what started was lost", becomes(events.TickLost)},
	{"what started was merged", becomes(events.TickMerged)},
	{"what started was missed", becomes(events.TickUnwatched)},
	{"what started was started again", becomes(events.TickAgain)},
	{"what started was not started", becomes(events.TickSkipped)},
	{"what started is unknown", becomes(events.TickUnknown)},
	{"nothing is held back", decision(func(s *events.Step) {
		if s.Cron != nil && s.Cron.Ledger != nil {
			cron, ledger := *s.Cron, *s.Cron.Ledger
			ledger.Open, ledger.Hold = 0, events.NotHeld
			cron.Ledger, s.Cron = &ledger, &cron
		}
	})},
	{"what is open is held back by its zone", decision(func(s *events.Step) {
		if s.Cron != nil && s.Cron.Ledger != nil && s.Cron.Ledger.Open != 0 {
			cron, ledger := *s.Cron, *s.Cron.Ledger
			ledger.Hold = events.HeldBadZone
			cron.Ledger, s.Cron = &ledger, &cron
		}
	})},
	{"refusals are for ever", func(r *events.Record) {
		if f, ok := r.Facts.(*events.CommandEnded); ok && r.Stream.Kind == events.StreamCronJob {
			ended := *f
			ended.Ending, ended.Class = events.Refused, events.RefusedForbidden
			r.Facts, r.Evidence.Message = &ended, "no right"
		}
	}},
	{"every version but the recorded was passed over", func(r *events.Record) { r.Evidence.PassedOver = 2 }},
	{"nothing is known of who edited", func(r *events.Record) { r.Evidence.Edit = nil }},
}

// toldOfCron is what the log says of a CronJob now and in the middle, of some of its due times, and of instants that
// are none.
func toldOfCron(t *testing.T, src *recorded, s events.Stream, instants []events.Time) []string {
	t.Helper()
	l := &teller{t: t, src: src, told: map[string]bool{}}
	for _, at := range []history.Point{{}, {Time: instants[len(instants)/2]}} {
		c, err := cron.Read(t.Context(), src, s, at)
		if c == nil {
			l.out.WriteString("cannot be told: " + err.Error() + "\n")
			continue
		}
		a := c.Answer()
		l.page(func(p *show.Page) error { return p.Answer(&a, true) })
	}
	for _, at := range instants {
		w, err := whynot.Read(t.Context(), src, []events.Stream{s}, at.Go(), words.Zone{})
		if err != nil {
			l.out.WriteString("no answer: " + err.Error() + "\n")
			continue
		}
		l.page(func(p *show.Page) error { return p.Sentences(w.Sentences) })
	}
	return strings.Split(strings.TrimSpace(l.out.String()), "\n")
}

// TestWhatIsSaidOtherwiseOfCronJobs is TestWhatIsSaidOtherwise for CronJobs.
func TestWhatIsSaidOtherwiseOfCronJobs(t *testing.T) {
	l := tell(t, "otherwise-cronjobs", nil)
	for _, dir := range logs(t) {
		if ofCronJobs(dir) == 0 {
			continue
		}
		src := openRecorded(t, dir)
		all, points := streams(src.records, events.StreamCronJob, 1)
		for _, s := range all {
			var instants []events.Time
			for _, at := range points[s] {
				t := src.records[at-src.records[0].Sequence].Time.Go().Truncate(time.Minute)
				instants = append(instants, events.At(t), events.At(t.Add(time.Minute)))
			}
			instants = slices.Compact(instants)
			was := toldOfCron(t, src, s, instants)
			for _, x := range cronsOtherwise {
				l.about("%s, %s: %s", nameOf(src, s), filepath.Base(dir), x.name)
				for _, line := range toldOfCron(t, src.changed(x.change), s, instants) {
					if !slices.Contains(was, line) {
						l.out.WriteString(line + "\n")
					}
				}
			}
		}
	}
	l.compare()
}

func nameOf(src *recorded, s events.Stream) string {
	for i := range src.records {
		if r := &src.records[i]; r.Stream == s && r.Evidence.Name != "" {
			return r.Evidence.Name
		}
	}
	return s.String()
}
