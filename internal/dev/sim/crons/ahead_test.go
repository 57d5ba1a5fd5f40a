package crons

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/explaintest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
)

// wantNext checks that all answers name the same next due time, and that why-not agrees about the given instants.
func (s *scene) wantNext(next time.Time, instants ...time.Time) {
	s.t.Helper()
	now := s.world.Clock.Now()
	src := history.Local{
		Log: s.log, Lists: joblist.New(joblist.Config{Log: s.log}), Clock: func() events.Time { return events.At(now) },
	}
	var all []events.Time
	for _, at := range instants {
		all = append(all, events.At(at))
	}
	said, err := explaintest.CronAgrees(s.t.Context(), src, events.CronJobStream(s.uid), all)
	s.must(err)
	for _, f := range said.Findings {
		s.t.Errorf("at %s: %s", now, f)
	}
	a := s.answersOf(src, s.uid)
	computed, _, err := a.due.Next(a.due.DueAfter(now), 1)
	s.must(err)
	if got := []time.Time{events.Time(a.state.Next).Go(), events.Time(a.row.Next).Go(), computed[0]}; !got[0].Equal(next) || !got[1].Equal(next) || !got[2].Equal(next) {
		s.t.Errorf("at %s: it is due next at %s, want %s", now, got, next)
	}
}

// TestWhatIsNextWhenAnotherClockIsAhead: another controller has a clock that is ahead, and starts a due time early.
// From then on no answer calls it the next one, whether only the Job shows the start, or also the status.
func TestWhatIsNextWhenAnotherClockIsAhead(t *testing.T) {
	for _, by := range []string{"* * * * *", "@every 1m"} {
		t.Run(by, func(t *testing.T) {
			s := newScene(t)
			s.mode = events.ModeObserve
			s.other.ahead = 900 * time.Millisecond
			s.other.begin()
			s.start()
			s.add(func(spec *batchv1.CronJobSpec) { spec.Schedule, spec.ConcurrencyPolicy = by, batchv1.AllowConcurrent })
			due := s.world.Clock.Now().Truncate(time.Minute).Add(2 * time.Minute)
			if by != "* * * * *" {
				due = s.world.Clock.Now().Truncate(time.Second).Add(2 * time.Minute)
			}
			early := 0
			for s.pass(due.Add(-time.Second)); s.world.Clock.Now().Before(due); s.pass(s.world.Clock.Now().Add(50 * time.Millisecond)) {
				next := due
				if w := s.whyNot(due.Format(time.RFC3339)); w.Tick != nil {
					next, early = due.Add(time.Minute), early+1
				}
				s.wantNext(next, due, next)
			}
			if early < 5 {
				t.Errorf("it was started %d times 50 ms before it was due: this tests little", early)
			}
		})
	}
}

// TestWhatIsNextAfterALastScheduleTimeToCome: a user sets status.lastScheduleTime to a future due time. No controller
// starts a due time before it.
func TestWhatIsNextAfterALastScheduleTimeToCome(t *testing.T) {
	bothModes(t, func(t *testing.T, s *scene, _ bool) {
		s.add(func(spec *batchv1.CronJobSpec) { spec.ConcurrencyPolicy = batchv1.AllowConcurrent })
		s.until(on("22:15:40"))
		c := s.world.Server.CronJob("default", "report").DeepCopy()
		last := time.Date(2026, 1, 1, 22, 25, 0, 0, time.UTC)
		c.Status.LastScheduleTime = &metav1.Time{Time: last}
		_, err := s.user.UpdateCronJobStatus(t.Context(), c)
		s.must(err)
		s.other.kick("report")
		s.until(on("22:16:30"))
		s.wantNext(last.Add(time.Minute), last.Add(-5*time.Minute), last, last.Add(time.Minute))
		s.until(on("22:26:30"))
		s.wantWhy(on("22:26:00"), true, "report-")
	})
}

// TestWhatIsNextWhereHalfAnHourIsPutBack: in Australia/Lord_Howe 04:20 of that day is not a due time, because the
// built-in controller counts from the day before. No answer calls it one.
func TestWhatIsNextWhereHalfAnHourIsPutBack(t *testing.T) {
	bothModes(t, func(t *testing.T, s *scene, _ bool) {
		s.until("2026-04-04T13:24:05Z")
		s.add(func(spec *batchv1.CronJobSpec) {
			spec.Schedule, spec.TimeZone = "20 4,5,6 * * *", new("Australia/Lord_Howe")
		})
		s.until("2026-04-04T15:40:30Z") // local time 02:10:30; clocks went back half an hour at 02:00
		none, next := time.Date(2026, 4, 4, 17, 50, 0, 0, time.UTC), time.Date(2026, 4, 4, 18, 50, 0, 0, time.UTC)
		s.wantNext(next, none, next)
		s.wantWhy("2026-04-04T17:50:00Z", false, "is no due time")
		s.until("2026-04-04T19:00:00Z")
		s.wantWhy("2026-04-04T17:50:00Z", false, "is no due time")
		s.wantWhy("2026-04-04T18:50:00Z", true, "report-")
	})
}
