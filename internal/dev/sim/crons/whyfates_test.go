package crons

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/explain/explaintest"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/say/words"
)

// TestEachDueTimeHasItsFate lives through random lives of one name, in both modes. It has schedules with @every, zones
// with changes of daylight saving, policies, deadlines, edits, suspensions, deletions, Jobs that hang, another
// controller that stops, and ours that is killed, or records no CronJobs for a time. At random moments it asks about
// instants of the last hours. The answers never deny a due time, and call no other instant one. They tell each start,
// and no other. No answer is HEALTHY while a due time is open for longer than its deadline, or 100 s. JOBLEDGER_SEED is
// the first seed.
func TestEachDueTimeHasItsFate(t *testing.T) {
	t.Parallel()
	worlds := 6 / effort.Step(2)
	if effort.IsLong() {
		worlds = 400
	}
	first, _ := strconv.ParseUint(os.Getenv("JOBLEDGER_SEED"), 10, 64)
	var n tally
	for seed := first; seed < first+uint64(worlds); seed++ {
		r := newRandomLives(t, seed)
		for i := range 12 {
			r.deed()
			r.judge(&n, worlds > 100 || i%4 == 3)
		}
		if t.Failed() {
			t.Fatalf("seed %d, observed: %t", seed, r.observed)
		}
	}
	t.Logf("%+v", n)
	if less := effort.Step(2); n.dues < 200/less || n.every < 10/less || n.unwatched < 20/less || n.lives < 5/less {
		t.Errorf("%+v: this tests little", n)
	}
}

// tally counts the questions: instants, due times, due times of @every, unwatched due times, and lives after the first.
type tally struct{ asked, dues, every, unwatched, lives int }

type randomLives struct {
	*scene
	observed bool
	lives    []*life // the newest first
	gaps     []away
	n        int
}

// nightsOfLives are times at which lives begin: some hours before a zone changes to daylight saving or back, and an
// ordinary day.
var nightsOfLives = []string{
	"2026-01-01T03:00:17Z", "2026-03-28T23:30:17Z", "2026-10-24T23:10:17Z", "2026-03-08T05:50:17Z", "2026-11-01T04:30:17Z", "2026-04-04T13:40:17Z",
}

func newRandomLives(t *testing.T, seed uint64) *randomLives {
	r := &randomLives{scene: &scene{onlooker: newOnlooker(newMachine(t, seed))}, observed: seed%2 == 0}
	r.other.calm, r.mode = true, events.ModeAll
	if r.observed {
		r.mode = events.ModeObserve
		r.other.begin()
	}
	r.until(nightsOfLives[r.r.IntN(len(nightsOfLives))])
	r.start()
	return r
}

var (
	lifeSchedules = []string{"* * * * *", "*/5 * * * *", "3-50/7 * * * *", "0,30 * * * *", "20 4,5,6 * * *", "@hourly", "*/20 0-3 * * *"}
	lifeEvery     = []time.Duration{time.Minute, 90 * time.Second, 7 * time.Minute, 37 * time.Minute}
	lifeZones     = []string{"Etc/UTC", "Europe/Berlin", "Asia/Kathmandu", "America/New_York", "Australia/Lord_Howe"}
	lifeDeadlines = []int64{0, 1, 5, 10, 59, 60, 61, 119, 120, 300, 1 << 62}
)

// schedule returns a random schedule. With a deadline it is never @every, because a deadline moves its due times
// (C-084).
func (r *randomLives) schedule(deadline bool) rescheduled {
	e := rescheduled{from: r.world.Clock.Now(), zone: lifeZones[r.r.IntN(len(lifeZones))]}
	if k := r.r.IntN(len(lifeSchedules) + 3); k < len(lifeSchedules) || deadline {
		e.by = lifeSchedules[k%len(lifeSchedules)]
		return e
	}
	e.every = lifeEvery[r.r.IntN(len(lifeEvery))]
	e.by = "@every " + e.every.String()
	return e
}

// deed makes a random change, and lets some time pass.
func (r *randomLives) deed() {
	stored := r.world.Server.CronJob("default", "report")
	k := r.r.IntN(12)
	switch {
	case k == 9 && r.r.IntN(2) == 0:
		r.leave()
	case k == 10, k == 11 && r.absent():
		r.back()
	case stored == nil:
		r.give()
	case k == 0:
		r.remove()
		r.lives[0].gone = r.world.Clock.Now()
	case k < 3:
		r.reschedule(stored)
	case k == 3:
		r.alter(func(c *batchv1.CronJob) { c.Spec.Suspend = new(!*c.Spec.Suspend) })
		r.other.kick("report")
	case k == 4 && r.observed:
		if r.other.up {
			r.other.stop()
		} else {
			r.other.begin()
		}
	case k == 5:
		r.n++
		r.byHand("by-hand-" + strconv.Itoa(r.n))
	default:
		r.endAll(r.r.IntN(3) > 0)
	}
	r.pass(r.world.Clock.Now().Add(time.Duration(r.r.Int64N(int64(25 * time.Minute)))))
	r.note()
}

// give creates a CronJob with the name.
func (r *randomLives) give() {
	deadline := r.r.IntN(3) == 0
	e := r.schedule(deadline)
	r.add(func(s *batchv1.CronJobSpec) {
		s.Schedule, s.TimeZone = e.by, &e.zone
		s.ConcurrencyPolicy = []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}[r.r.IntN(3)]
		if deadline {
			s.StartingDeadlineSeconds = &lifeDeadlines[r.r.IntN(len(lifeDeadlines))]
		}
	})
	l := &life{uid: r.uid, observed: r.observed, created: r.world.Clock.Now().Truncate(time.Second)}
	e.base = l.created
	l.edits = []rescheduled{e}
	r.lives = append([]*life{l}, r.lives...)
}

// reschedule edits schedule and zone. @every then counts from the newest started due time.
func (r *randomLives) reschedule(stored *batchv1.CronJob) {
	e := r.schedule(stored.Spec.StartingDeadlineSeconds != nil)
	if e.base = r.lives[0].created; stored.Status.LastScheduleTime != nil {
		e.base = stored.Status.LastScheduleTime.Time
	}
	r.alter(func(c *batchv1.CronJob) { c.Spec.Schedule, c.Spec.TimeZone = e.by, &e.zone })
	r.lives[0].edits = append(r.lives[0].edits, e)
}

// leave ends our controller. Sometimes it starts one that records no CronJobs.
func (r *randomLives) leave() {
	if r.absent() {
		return
	}
	r.kill()
	r.gaps = append(r.gaps, away{from: r.world.Clock.Now()})
	if r.r.IntN(3) == 0 {
		r.blind = true
		r.start()
	}
}

// back starts our controller again, or restarts a running one.
func (r *randomLives) back() {
	if !r.absent() {
		r.gaps = append(r.gaps, away{from: r.world.Clock.Now()})
	}
	if r.process != nil {
		r.kill()
	}
	r.blind = false
	r.start()
	r.gaps[len(r.gaps)-1].until = r.world.Clock.Now()
}

// absent reports whether no controller records CronJobs.
func (r *randomLives) absent() bool { return r.process == nil || r.blind }

// due reports whether an instant was a due time of one of the lives.
func (r *randomLives) due(at time.Time) (is, sure bool) {
	sure = true
	for _, l := range r.lives {
		due, known := l.due(r.t, r.gaps, at)
		is, sure = is || due, sure && known
	}
	return is, sure
}

// source returns the log and the present time. If a controller runs, both use its clock.
func (r *randomLives) source() (src history.Local, now time.Time) {
	src = history.Local{Log: r.log, Lists: joblist.New(joblist.Config{Log: r.log})}
	if now = r.world.Clock.Now(); r.process != nil {
		src.Clock = func() events.Time { return events.At(now) }
		return src, now
	}
	return src, r.log.Head().Time.Go()
}

// instant returns a time of the last hours: any minute or second, or a due time.
func (r *randomLives) instant(now time.Time, any bool) (at time.Time, is, sure bool) {
	at = now.Add(-time.Duration(r.r.Int64N(int64(2 * time.Hour)))).Truncate(time.Minute)
	if any && r.r.IntN(2) == 0 {
		at = at.Add(time.Duration(r.r.IntN(60)) * time.Second)
	}
	is, sure = r.due(at)
	for back := 0; !is && !any && back < 40; back++ {
		at = r.lives[0].before(at)
		for _, l := range r.lives[1:] {
			if at.Before(l.gone) {
				at = l.before(at.Add(time.Nanosecond))
			}
		}
		is, sure = r.due(at)
	}
	return at, is, sure
}

// judge asks about recent instants and about the CronJob's health. With whole, it also checks that all answers agree.
func (r *randomLives) judge(n *tally, whole bool) {
	r.t.Helper()
	if len(r.lives) == 0 {
		return
	}
	src, now := r.source()
	streams, err := history.FindCronJobs(r.t.Context(), src, "default", "report")
	r.must(err)
	if len(streams) == 0 {
		return // it was made while nothing was watched
	}
	n.lives += len(streams) - 1
	for i := range 12 {
		at, is, sure := r.instant(now, i%3 == 0)
		w, err := whynot.Read(r.t.Context(), src, streams, at, words.Zone{})
		r.must(err)
		n.asked++
		if is {
			n.dues++
		}
		text := textOf(w.Sentences)
		made := r.made[types.UID(w.UID)][events.At(at)]
		if is && !w.Due && !r.known(streams, at) && strings.Contains(text, "unknown") {
			continue // it was made while nothing was watched, and was not seen yet
		}
		if sure && w.Due != is && !(made && w.Due) { // an edited schedule may have a Job for an instant before the edit (C-094)
			r.t.Errorf("at %s: %s is a due time: %t, and the answer is:\n%s", now, at, is, text)
		}
		r.judgeStart(w, at, now, made, n)
	}
	if l := r.lives[0]; l.gone.IsZero() && l.edits[len(l.edits)-1].every != 0 {
		n.every++
	}
	r.judgeHealth(src, now)
	if whole {
		r.judgeAgreement(src, now, streams)
	}
}

// judgeAgreement checks that all answers about each life at one moment agree with each other and with the records.
func (r *randomLives) judgeAgreement(src history.Local, now time.Time, streams []events.Stream) {
	r.t.Helper()
	var instants []events.Time
	for i := range 4 {
		at, _, _ := r.instant(now, i == 0)
		instants = append(instants, events.At(at))
	}
	for _, s := range streams[:min(len(streams), 2)] {
		said, err := explaintest.CronAgrees(r.t.Context(), src, s, instants)
		r.must(err)
		for _, f := range said.Findings {
			r.t.Errorf("at %s: %s", now, f)
		}
	}
	all, err := explaintest.Check(r.t.Context(), src)
	r.must(err)
	for _, f := range all.Findings {
		r.t.Errorf("at %s: %s", now, f)
	}
}

// known reports whether the log has the CronJob that existed at a time.
func (r *randomLives) known(streams []events.Stream, at time.Time) bool {
	for _, l := range r.lives {
		if at.After(l.created) {
			return slices.Contains(streams, events.CronJobStream(l.uid))
		}
	}
	return true
}

// judgeStart checks that each start is told, and nothing else. It accepts "unknown" for unwatched times.
func (r *randomLives) judgeStart(w *whynot.WhyNot, at, now time.Time, made bool, n *tally) {
	r.t.Helper()
	unwatched := false
	for i := range r.gaps {
		g := r.gaps[i]
		g.from = g.from.Add(-2 * time.Minute)
		unwatched = unwatched || g.has(at) || r.observed && made && !g.until.IsZero() && g.has(at.Add(time.Minute))
	}
	if unwatched {
		n.unwatched++
	}
	settled := now.Sub(at) > 2*time.Minute
	started := w.Tick != nil && (w.Tick.Fate == events.TickStarted.String() || w.Tick.Fate == events.TickAgain.String())
	if w.Due && settled && started != made && !(unwatched && !started) {
		r.t.Errorf("at %s: a Job was made for %s: %t, and the answer is:\n%s", now, at, made, textOf(w.Sentences))
	}
}

// judgeHealth checks that no answer is HEALTHY while a due time is open for long.
func (r *randomLives) judgeHealth(src history.Local, now time.Time) {
	r.t.Helper()
	stored := r.world.Server.CronJob("default", "report")
	if stored == nil || *stored.Spec.Suspend || r.absent() {
		return
	}
	a := r.answersOf(src, r.uid)
	late := 100 * time.Second
	if d := stored.Spec.StartingDeadlineSeconds; d != nil {
		late = min(late, time.Duration(min(*d, 1<<31))*time.Second)
	}
	newest, is, sure := now, false, false
	for !is && now.Sub(newest) < 2*time.Hour {
		newest = r.lives[0].before(newest)
		is, sure = r.lives[0].due(r.t, r.gaps, newest)
	}
	open := is && sure && !r.made[r.uid][events.At(newest)] && now.Sub(newest) > late
	edited := len(r.lives[0].edits) > 1 && r.lives[0].edits[len(r.lives[0].edits)-1].from.After(newest)
	if verdict := a.explained.Verdict.Text; open && !edited && strings.HasPrefix(verdict, "HEALTHY") {
		r.t.Errorf("at %s: no Job was made for %s, and the verdict is %s", now, newest, verdict)
	}
	if a.state.State != a.row.State || a.explained.State != string(a.row.State) {
		r.t.Errorf("at %s: the state is %s, and in the list %s", now, a.state.State, a.row.State)
	}
	if x, y, z := a.due.Open(), a.state.Due, a.row.Due; (x == nil) != (y == nil) || (y == nil) != (z == nil) || y != nil && (x.At != y.At || y.At != z.At) {
		r.t.Errorf("at %s: the open due times are %+v, %+v and %+v", now, x, y, z)
	}
}
