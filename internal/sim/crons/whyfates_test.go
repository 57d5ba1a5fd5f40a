package crons

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	upstream "github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/explain"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/words"
)

// life is a CronJob as its users know it: by what it was due, from when on.
type life struct {
	uid           types.UID
	created, gone time.Time
	edits         []rescheduled
}

type rescheduled struct {
	from time.Time
	by   string
	zone string
}

// due reports whether an instant was a due time, by the parser that the built-in controller has. Near an edit, and near the end, it is not
// sure.
func (l *life) due(t *testing.T, at time.Time) (is, sure bool) {
	const near = 2 * time.Second
	if !at.After(l.created.Add(near)) || !l.gone.IsZero() && at.Add(near).After(l.gone) {
		return false, at.Before(l.created.Add(-near)) || !l.gone.IsZero() && at.After(l.gone.Add(near))
	}
	in := l.edits[0]
	for _, e := range l.edits[1:] {
		if at.After(e.from.Add(-near)) && at.Before(e.from.Add(near)) {
			return false, false
		}
		if !at.Before(e.from) {
			in = e
		}
	}
	s, err := upstream.ParseStandard("CRON_TZ=" + in.zone + " " + in.by)
	if err != nil {
		t.Fatal(err)
	}
	return s.Next(at.Add(-time.Second)).Equal(at), true
}

// TestEachDueTimeHasItsFate lives through random lives of one name, in both modes: schedules, zones, policies, deadlines, edits, suspensions,
// deletions, Jobs that hang, a controller that stops. At random moments each instant of the last hours is asked about. A due time is never
// denied, and nothing else is one; what was started is told so and nothing else is; and no answer is HEALTHY while a due time is open for
// longer than its deadline, or 100 s. JOBLEDGER_SEED is the first seed.
func TestEachDueTimeHasItsFate(t *testing.T) {
	t.Parallel()
	worlds := 16
	if os.Getenv("JOBLEDGER_LONG") != "" {
		worlds = 400
	}
	first, _ := strconv.ParseUint(os.Getenv("JOBLEDGER_SEED"), 10, 64)
	asked, dues := 0, 0
	for seed := first; seed < first+uint64(worlds); seed++ {
		r := newRandomLives(t, seed)
		for range 12 {
			r.deed()
			n, d := r.judge()
			asked, dues = asked+n, dues+d
		}
		if t.Failed() {
			t.Fatalf("seed %d, observed: %t", seed, r.observed)
		}
	}
	if t.Logf("%d instants, %d due times", asked, dues); dues < 200 {
		t.Errorf("%d due times only: this tests little", dues)
	}
}

type randomLives struct {
	*scene
	observed bool
	lives    []*life // the newest first
	n        int
}

func newRandomLives(t *testing.T, seed uint64) *randomLives {
	r := &randomLives{scene: &scene{onlooker: newOnlooker(newMachine(t, seed))}, observed: seed%2 == 0}
	r.other.calm, r.mode = true, events.ModeAll
	if r.observed {
		r.mode = events.ModeObserve
		r.other.begin()
	}
	r.pass(time.Date(2026, 1, 1, 3, 0, 17, 0, time.UTC))
	r.start()
	return r
}

var lifeSchedules = []string{"* * * * *", "*/5 * * * *", "3-50/7 * * * *", "0,30 * * * *", "20 4,5,6 * * *"}

func (r *randomLives) schedule() rescheduled {
	return rescheduled{
		r.world.Clock.Now(), lifeSchedules[r.r.IntN(len(lifeSchedules))], []string{"Etc/UTC", "Europe/Berlin", "Asia/Kathmandu"}[r.r.IntN(3)],
	}
}

// deed is something that a user does, and some time that goes by.
func (r *randomLives) deed() {
	stored := r.world.Server.CronJob("default", "report")
	switch k := r.r.IntN(9); {
	case stored == nil:
		e := r.schedule()
		r.add(func(s *batchv1.CronJobSpec) {
			s.Schedule, s.TimeZone = e.by, &e.zone
			s.ConcurrencyPolicy = []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}[r.r.IntN(3)]
			if r.r.IntN(3) == 0 {
				s.StartingDeadlineSeconds = new(int64(10 + r.r.IntN(300)))
			}
		})
		r.lives = append([]*life{{uid: r.uid, created: r.world.Clock.Now().Truncate(time.Second), edits: []rescheduled{e}}}, r.lives...)
	case k == 0:
		r.remove()
		r.lives[0].gone = r.world.Clock.Now()
	case k < 3:
		e := r.schedule()
		r.alter(func(c *batchv1.CronJob) { c.Spec.Schedule, c.Spec.TimeZone = e.by, &e.zone })
		r.lives[0].edits = append(r.lives[0].edits, e)
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

// due reports whether an instant was a due time of one of the lives.
func (r *randomLives) due(at time.Time) (is, sure bool) {
	sure = true
	for _, l := range r.lives {
		due, known := l.due(r.t, at)
		is, sure = is || due, sure && known
	}
	return is, sure
}

// judge asks about instants of the last time, and how it is.
func (r *randomLives) judge() (asked, dues int) {
	r.t.Helper()
	now := r.world.Clock.Now()
	src := history.Local{Log: r.log, Clock: func() events.Time { return events.At(now) }}
	var streams []events.Stream
	for _, l := range r.lives {
		streams = append(streams, events.CronJobStream(l.uid))
	}
	if len(streams) == 0 {
		return 0, 0
	}
	for i := range 12 {
		at := now.Add(-time.Duration(r.r.Int64N(int64(2 * time.Hour)))).Truncate(time.Minute)
		is, sure := r.due(at)
		for back := 0; !is && i%3 > 0 && back < 40; back++ {
			at = at.Add(-time.Minute)
			is, sure = r.due(at)
		}
		w, err := explain.ReadWhyNot(r.t.Context(), src, streams, at, words.Zone{})
		r.must(err)
		asked++
		if is {
			dues++
		}
		text := textOf(w.Sentences)
		made := r.made[types.UID(w.UID)][events.At(at)]
		if sure && w.Due != is && !(made && w.Due) { // by an edited schedule a Job may be made for an instant before the edit (C-094)
			r.t.Errorf("at %s: %s is a due time: %t, and the answer is:\n%s", now, at, is, text)
		}
		settled := now.Sub(at) > 2*time.Minute
		if started := w.Tick != nil && (w.Tick.Fate == events.TickStarted.String() || w.Tick.Fate == events.TickAgain.String()); w.Due && settled && started != made {
			r.t.Errorf("at %s: a Job was made for %s: %t, and the answer is:\n%s", now, at, made, text)
		}
	}
	r.judgeHealth(now)
	return asked, dues
}

// judgeHealth wants no health where a due time is open for long.
func (r *randomLives) judgeHealth(now time.Time) {
	r.t.Helper()
	stored := r.world.Server.CronJob("default", "report")
	if stored == nil || *stored.Spec.Suspend {
		return
	}
	a := r.answers(r.uid, true)
	late := 100 * time.Second
	if d := stored.Spec.StartingDeadlineSeconds; d != nil {
		late = min(late, time.Duration(*d)*time.Second)
	}
	var oldest time.Time
	for at := now.Add(-2 * time.Hour).Truncate(time.Minute); at.Before(now); at = at.Add(time.Minute) {
		if is, sure := r.lives[0].due(r.t, at); is && sure {
			oldest = at // the newest due time
		}
	}
	open := !oldest.IsZero() && !r.made[r.uid][events.At(oldest)] && now.Sub(oldest) > late
	edited := len(r.lives[0].edits) > 1 && r.lives[0].edits[len(r.lives[0].edits)-1].from.After(oldest)
	if verdict := a.explained.Verdict.Text; open && !edited && strings.HasPrefix(verdict, "HEALTHY") {
		r.t.Errorf("at %s: no Job was made for %s, and the verdict is %s", now, oldest, verdict)
	}
	if a.state.State != a.row.State || a.explained.State != string(a.row.State) {
		r.t.Errorf("at %s: the state is %s, and in the list %s", now, a.state.State, a.row.State)
	}
	if x, y, z := a.due.Open(), a.state.Due, a.row.Due; (x == nil) != (y == nil) || (y == nil) != (z == nil) || y != nil && (x.At != y.At || y.At != z.At) {
		r.t.Errorf("at %s: the open due times are %+v, %+v and %+v", now, x, y, z)
	}
}
