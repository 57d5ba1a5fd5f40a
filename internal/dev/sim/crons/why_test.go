package crons

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	explaincron "github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/say/words"
)

// scene is a small history of one CronJob, default/report. Our controller runs it, or looks on while another one does.
type scene struct {
	*onlooker
	uid types.UID // of its newest life
}

// bothModes plays a scene in each mode.
func bothModes(t *testing.T, play func(t *testing.T, s *scene, observed bool)) {
	for _, observed := range []bool{false, true} {
		t.Run(map[bool]string{false: "run", true: "observed"}[observed], func(t *testing.T) {
			s := newScene(t)
			s.mode = events.ModeAll
			if observed {
				s.mode = events.ModeObserve
				s.other.begin()
			}
			s.start()
			play(t, s, observed)
		})
	}
}

func newScene(t *testing.T) *scene {
	m := newMachine(t, 1)
	s := &scene{onlooker: newOnlooker(m)}
	s.other.calm = true
	s.until("2026-01-01T22:13:05Z")
	return s
}

func (s *scene) until(moment string) {
	s.t.Helper()
	at, err := time.Parse(time.RFC3339, moment)
	s.must(err)
	s.pass(at)
}

// on returns a time of the first day.
func on(clock string) string { return "2026-01-01T" + clock + "Z" }

// add makes the CronJob, due each minute unless change says otherwise.
func (s *scene) add(change func(*batchv1.CronJobSpec)) {
	s.t.Helper()
	t := template(false)
	t.Spec.ManagedBy = new("example.com/runner")
	spec := &batchv1.CronJobSpec{Schedule: "* * * * *", ConcurrencyPolicy: batchv1.ForbidConcurrent, JobTemplate: t}
	change(spec)
	s.create("report", spec)
	s.uid = s.world.Server.CronJob("default", "report").UID
	s.other.kick("report")
}

// alter changes the CronJob, as a user of kubectl does.
func (s *scene) alter(change func(*batchv1.CronJob)) {
	s.t.Helper()
	s.edit("report", change)
	s.other.rescheduled(s.world.Server.CronJob("default", "report"))
}

func (s *scene) remove() {
	s.t.Helper()
	s.must(s.user.DeleteCronJob(s.t.Context(), "default", "report", s.uid, metav1.DeletePropagationOrphan))
}

// endAll ends all its Jobs.
func (s *scene) endAll(well bool) {
	for _, j := range s.world.Server.StoredJobs() {
		if !over(j) && j.DeletionTimestamp == nil {
			s.finish(j, well)
			s.kickOwner(j)
		}
	}
}

func (s *scene) source() history.Local { return history.Local{Log: s.log} }

// whyNot returns the answer about an instant.
func (s *scene) whyNot(moment string) *whynot.WhyNot {
	s.t.Helper()
	at, err := time.Parse(time.RFC3339, moment)
	s.must(err)
	w, err := whynot.Read(s.t.Context(), s.source(), []events.Stream{events.CronJobStream(s.uid)}, at, words.Zone{})
	s.must(err)
	return w
}

func textOf(all []explain.Sentence) string {
	var out []string
	for i := range all {
		out = append(out, all[i].Text)
	}
	return strings.Join(out, "\n")
}

// explained returns the answer about the CronJob.
func (s *scene) explained() explain.Answer {
	s.t.Helper()
	c, err := explaincron.Read(s.t.Context(), s.source(), events.CronJobStream(s.uid), history.Point{})
	s.must(err)
	return c.Answer()
}

// wantWhy checks whether an instant is a due time, and that the answer has the given words.
func (s *scene) wantWhy(moment string, due bool, want ...string) {
	s.t.Helper()
	w := s.whyNot(moment)
	text := textOf(w.Sentences)
	if w.Due != due {
		s.t.Errorf("%s is a due time: %t, want %t:\n%s", moment, w.Due, due, text)
	}
	for _, one := range want {
		if !strings.Contains(text, one) {
			s.t.Errorf("%s: the answer does not say %q:\n%s", moment, one, text)
		}
	}
}

// wantVerdict checks that the verdict begins with a word, and has the other words.
func (s *scene) wantVerdict(word string, want ...string) {
	s.t.Helper()
	a := s.explained()
	if !strings.HasPrefix(a.Verdict.Text, word) {
		s.t.Errorf("the verdict is not %s: %s", word, a.Verdict.Text)
	}
	for _, one := range want {
		if !strings.Contains(a.Verdict.Text, one) {
			s.t.Errorf("the verdict does not say %q: %s", one, a.Verdict.Text)
		}
	}
}

// TestWhatWasOpenWhenItWasDeleted: the first Job hangs for 45 minutes under the policy Forbid, and the CronJob is
// deleted. Each earlier due time has an outcome (fate); the newest one is told to have been open when the CronJob was
// deleted. The answers say so at once, and also later from the records.
func TestWhatWasOpenWhenItWasDeleted(t *testing.T) {
	bothModes(t, func(t *testing.T, s *scene, observed bool) {
		s.add(func(*batchv1.CronJobSpec) {})
		s.until(on("22:59:30"))
		s.remove()
		for _, later := range []string{on("22:59:31"), on("23:05:00")} {
			s.until(later)
			for m := 14; m < 60; m++ {
				want := "report-"
				if m == 59 && observed {
					want = "the CronJob was deleted before it was started"
				} else if m == 59 {
					want = "dropped: the CronJob was deleted"
				}
				s.wantWhy(fmt.Sprintf(on("22:%02d:00"), m), true, want)
			}
			s.wantWhy(on("23:00:00"), false, "it was deleted")
			s.wantWhy(on("22:13:00"), false, "it was created at")
		}
	})
}

// TestWhatIsOpenWhenTheLogEnds: another controller is down from the beginning. Each due time until the end of the log
// has a fate.
func TestWhatIsOpenWhenTheLogEnds(t *testing.T) {
	s := newScene(t)
	s.mode = events.ModeObserve
	s.start()
	s.add(func(*batchv1.CronJobSpec) {})
	s.until(on("22:40:30"))
	s.create("another", &batchv1.CronJobSpec{Schedule: "0 0 1 1 *", JobTemplate: template(true)}) // the log goes on
	s.until(on("22:40:31"))
	for m := 14; m <= 40; m++ {
		s.wantWhy(fmt.Sprintf(on("22:%02d:00"), m), true, "another controller has not started it so far")
	}
	s.wantVerdict("NOT STARTING", "its last 27 due times did not start")
}

// TestSeenForTheFirstTime: another controller has run the CronJob for some minutes before anything was watched. The due
// times of that time are still called due times. Their fates are unknown, except for the newest started one.
func TestSeenForTheFirstTime(t *testing.T) {
	s := newScene(t)
	s.mode = events.ModeObserve
	s.other.begin()
	s.add(func(spec *batchv1.CronJobSpec) { spec.Schedule, spec.TimeZone = "*/2 * * * *", new("Europe/Berlin") })
	for range 4 {
		s.until(s.world.Clock.Now().Add(2 * time.Minute).Format(time.RFC3339))
		s.endAll(true)
	}
	s.start() // at 22:21:05
	s.until(on("22:22:20"))
	s.endAll(true)
	s.alter(func(c *batchv1.CronJob) { c.Spec.Schedule, c.Spec.TimeZone = "1 1 1 1 *", new("Asia/Kathmandu") })
	s.until(on("22:25:00"))
	s.wantWhy(on("22:16:00"), true, `by the schedule "*/2 * * * *" that it had when it was seen first, at 2026-01-01 22:21:05`, "unknown: it was not watched before that", "22:20 UTC)")
	s.wantWhy(on("22:20:00"), true, "it was started before that: status.lastScheduleTime says so")
	s.wantWhy(on("22:17:00"), false, "what it was before is unknown")
	s.wantWhy(on("22:22:00"), true, "started by another controller")
	s.wantWhy(on("22:12:00"), false, "it was created at 2026-01-01 22:13:05")
}

// TestTwoLivesOfOneName: an answer about an instant comes from the CronJob that had the name at that instant.
func TestTwoLivesOfOneName(t *testing.T) {
	bothModes(t, func(t *testing.T, s *scene, _ bool) {
		s.add(func(*batchv1.CronJobSpec) {})
		s.until(on("22:15:10"))
		s.endAll(true)
		first := s.uid
		s.remove()
		s.until(on("22:20:40"))
		s.add(func(*batchv1.CronJobSpec) {})
		s.until(on("22:25:00"))
		lives := []events.Stream{events.CronJobStream(s.uid), events.CronJobStream(first)}
		for clock, want := range map[string]struct {
			uid  types.UID
			due  bool
			says string
		}{
			"22:14:00": {first, true, "report-"}, "22:21:00": {s.uid, true, "report-"},
			"22:18:00": {s.uid, false, "there was none of that name: one was deleted, seen at 2026-01-01 22:15:10"},
			"22:10:00": {first, false, "it was created at 2026-01-01 22:13:05"},
		} {
			at, _ := time.Parse(time.RFC3339, on(clock))
			w, err := whynot.Read(t.Context(), s.source(), lives, at, words.Zone{})
			s.must(err)
			if text := textOf(w.Sentences); w.Due != want.due || w.UID != string(want.uid) || !strings.Contains(text, want.says) {
				t.Errorf("%s: a due time of %s: %t, want one of %s: %t, %q:\n%s", clock, w.UID, w.Due, want.uid, want.due, want.says, text)
			}
		}
	})
}

// TestEditedSince: an instant was a due time by the old schedule, and is not by the new one.
func TestEditedSince(t *testing.T) {
	bothModes(t, func(t *testing.T, s *scene, observed bool) {
		s.add(func(spec *batchv1.CronJobSpec) { spec.Schedule, spec.TimeZone = "*/10 * * * *", new("Europe/Berlin") })
		s.until(on("22:20:30"))
		s.endAll(true)
		s.until(on("22:43:43"))
		s.alter(func(c *batchv1.CronJob) { c.Spec.Schedule, c.Spec.TimeZone = "25 22 * * *", new("America/New_York") })
		s.until(on("22:43:45"))
		for _, later := range []string{on("22:43:46"), on("22:55:00")} {
			s.until(later)
			s.wantWhy(on("22:50:00"), false, "it was one until 2026-01-01 22:43:4", `schedule "*/10 * * * *" → "25 22 * * *", timeZone Europe/Berlin → America/New_York`)
			s.wantWhy(on("22:20:00"), true, "started")
			s.wantWhy(on("22:40:00"), true, "dropped: the schedule was changed")
			s.wantWhy(on("22:30:00"), true, "report-")
			s.wantWhy("2026-01-02T03:25:00Z", true, "by its schedule")
			s.wantWhy("2026-01-01T03:25:00Z", false, "it was created at")
			s.wantVerdict("EDITED", "22:43:4", "Europe/Berlin → America/New_York", "next")
		}
	})
}

// minutes lets n minutes pass. In each it calls `do`, the given time after the beginning of the minute.
func (s *scene) minutes(n int, past time.Duration, do func()) {
	s.t.Helper()
	for range n {
		at := s.world.Clock.Now().Truncate(time.Minute)
		if !at.Add(past).After(s.world.Clock.Now()) {
			at = at.Add(time.Minute)
		}
		s.pass(at.Add(past))
		do()
		s.pass(at.Add(past + 5*time.Second))
	}
}

// TestRunsThatAreReplaced: a CronJob is due each minute under the policy Replace, and each run takes longer: none comes
// to its end.
func TestRunsThatAreReplaced(t *testing.T) {
	bothModes(t, func(_ *testing.T, s *scene, _ bool) {
		s.add(func(spec *batchv1.CronJobSpec) { spec.ConcurrencyPolicy = batchv1.ReplaceConcurrent })
		s.until(on("22:14:20"))
		s.wantVerdict("HEALTHY")
		s.until(on("22:15:20"))
		s.wantVerdict("HEALTHY", "was replaced by report-")
		s.until(on("22:30:20"))
		s.wantVerdict("STARVING: its last 16 Jobs that are over did not end", "policy Replace", "1m")
		s.endAll(true)
		s.until(on("22:30:50"))
		s.wantVerdict("HEALTHY")
	})
}

// TestRunsThatDoNotEnd: under the policy Allow, Jobs pile up, and none of them ends.
func TestRunsThatDoNotEnd(t *testing.T) {
	bothModes(t, func(_ *testing.T, s *scene, _ bool) {
		s.add(func(spec *batchv1.CronJobSpec) { spec.ConcurrencyPolicy = batchv1.AllowConcurrent })
		s.until(on("22:15:20"))
		s.wantVerdict("HEALTHY", "2 of its Jobs run")
		s.until(on("23:14:20"))
		s.wantVerdict("UNFINISHED: 61 of its Jobs have not ended", "1h")
		s.endAll(true)
		s.until(on("23:14:40"))
		s.wantVerdict("HEALTHY")
	})
}

// TestRunsThatFailSinceAnEdit: runs before an edit of the template succeeded, and runs since then failed. A run that a
// user made by hand counts separately, however it ends.
func TestRunsThatFailSinceAnEdit(t *testing.T) {
	bothModes(t, func(_ *testing.T, s *scene, _ bool) {
		s.add(func(*batchv1.CronJobSpec) {})
		s.minutes(4, 20*time.Second, func() { s.endAll(true) }) // the Job of 22:13 does not end
		s.wantVerdict("HEALTHY")
		s.until(on("22:16:40"))
		s.alter(func(c *batchv1.CronJob) { c.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Image = "sim:1.1" })
		s.minutes(3, 20*time.Second, func() { s.endAll(false) })
		s.wantVerdict("FAILING since the edit of 1 Jan 22:16:40", "main.image sim → sim:1.1", ": 3 of 3 failed, 3 of 3 before succeeded; report-")
		s.byHand("report-again")
		s.until(on("22:19:30"))
		s.endAll(true)
		s.until(on("22:19:40"))
		s.wantVerdict("FAILING since the edit of 1 Jan 22:16:40", ": 3 of 3 failed, 3 of 3 before succeeded; report-", "; report-again, made by hand")
		s.minutes(1, 20*time.Second, func() { s.endAll(true) })
		s.byHand("report-broken")
		s.until(on("22:20:30"))
		s.endAll(false)
		s.until(on("22:20:40"))
		s.wantVerdict("HEALTHY", "; report-broken, made by hand", "failed")
	})
}

// byHand makes a Job of the CronJob as kubectl create job --from does.
func (s *scene) byHand(name string) {
	s.t.Helper()
	j := jobOf(s.world.Server.CronJob("default", "report"), name)
	j.Annotations = map[string]string{"cronjob.kubernetes.io/instantiate": "manual"}
	_, err := s.user.CreateJob(s.t.Context(), j)
	s.must(err)
}

// TestNotHealthyWhileItIsOpen: the API server does not answer creates, or no controller runs. A due time that is open
// for long is never called HEALTHY.
func TestNotHealthyWhileItIsOpen(t *testing.T) {
	s := newScene(t)
	s.mode = events.ModeAll
	s.start()
	s.add(func(*batchv1.CronJobSpec) {})
	s.until(on("22:13:30"))
	s.hang = true
	s.until(on("22:14:40"))
	s.create("another", &batchv1.CronJobSpec{Schedule: "0 0 1 1 *", JobTemplate: template(true)}) // the log goes on
	s.until(on("22:14:41"))
	s.wantVerdict("NOT STARTING: its last due time did not start", "create", "not answered")
	s.wantWhy(on("22:14:00"), true, "has not started yet")
}

// answers holds all answers about the CronJob at one time: from a running controller, or from the log alone.
type answers struct {
	explained explain.Answer
	state     history.CronJob
	row       history.CronSummary
	due       *duetimes.CronJob
}

func (s *scene) answers(uid types.UID, live bool) (a answers) {
	s.t.Helper()
	src := history.Local{Log: s.log, Lists: joblist.New(joblist.Config{Log: s.log})}
	if live {
		src.Clock = func() events.Time { return events.At(s.world.Clock.Now()) }
	}
	return s.answersOf(src, uid)
}

func (s *scene) answersOf(src history.Local, uid types.UID) (a answers) {
	s.t.Helper()
	stream := events.CronJobStream(uid)
	c, err := explaincron.Read(s.t.Context(), src, stream, history.Point{})
	s.must(err)
	a.explained, a.state = c.Answer(), c.State
	page, err := src.CronJobs(s.t.Context(), history.CronJobsQuery{UID: string(uid)})
	s.must(err)
	if len(page.Items) != 1 {
		s.t.Fatalf("%d CronJobs have the UID %s", len(page.Items), uid)
	}
	a.row = page.Items[0]
	a.due, err = duetimes.Read(s.t.Context(), src, stream)
	s.must(err)
	return a
}

// TestOneClock: explain, get, the list of CronJobs and ticks agree on open due times, by the controller's clock, or
// without a controller as of the end of the log.
func TestOneClock(t *testing.T) {
	bothModes(t, func(t *testing.T, s *scene, observed bool) {
		s.add(func(spec *batchv1.CronJobSpec) { spec.StartingDeadlineSeconds = new(int64(200)) })
		s.until(on("22:13:30"))
		s.hang = true
		s.other.stop()
		s.until(on("22:40:30"))
		a := s.answers(s.uid, true)
		if a.state.State != history.CronOverdue || a.row.State != history.CronOverdue || a.explained.State != string(history.CronOverdue) {
			t.Errorf("the states are %s, %s and %s", a.state.State, a.row.State, a.explained.State)
		}
		open := a.due.Open()
		if open == nil || a.state.Due == nil || a.row.Due == nil || open.At != a.state.Due.At || open.At != a.row.Due.At {
			t.Fatalf("the open due times are %+v, %+v and %+v", open, a.state.Due, a.row.Due)
		}
		if observed && !events.Time(open.At).Go().Equal(time.Date(2026, 1, 1, 22, 40, 0, 0, time.UTC)) {
			t.Errorf("%s is open", events.Time(open.At).Go())
		}
		if !strings.HasPrefix(a.explained.Verdict.Text, "NOT STARTING") {
			t.Errorf("the verdict is %s", a.explained.Verdict.Text)
		}
		if a.explained.Clock != history.ClockController || events.Time(a.explained.AsOf.Time) != events.At(s.world.Clock.Now()) {
			t.Errorf("it is as of %s by %q", events.Time(a.explained.AsOf.Time).Go(), a.explained.Clock)
		}
		if b := s.answers(s.uid, false); b.explained.Clock != history.ClockLog || b.state.State != b.row.State || b.state.Next != b.row.Next {
			t.Errorf("by the end of the log (%q): %s, and in the list %s; next %d and %d", b.explained.Clock, b.state.State, b.row.State, b.state.Next, b.row.Next)
		}
	})
}
