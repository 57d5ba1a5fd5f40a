package loop_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/executor"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
)

// refusing is a Job whose create is refused for as long as a test lets it.
type refusing struct {
	*machine
	name  events.CommandName
	asked []time.Duration // since the first refusal
}

func newRefusing(t *testing.T) *refusing {
	r := &refusing{machine: newMachine(t), name: events.CommandName{Decided: 8}}
	r.do("start")
	r.do("synced")
	r.do("job demo")
	r.refuse(events.RefusedQuota)
	return r
}

func (r *refusing) refuse(class events.RefusalClass) {
	r.turn(loop.Input{Result: &executor.Result{
		Stream: events.JobStream("uid-demo"),
		Ended:  events.CommandEnded{Command: r.name, Ending: events.Refused, Class: class, Sent: true},
	}})
}

// tries goes on until then, and refuses every try.
func (r *refusing) tries(until events.Time, class events.RefusalClass) {
	for {
		wake := r.loop.Wake()
		if wake == 0 || wake > until {
			r.now = until
			return
		}
		r.now = max(wake, r.now)
		r.turn()
		asks, _ := r.loop.Asks()
		for _, task := range asks {
			if task.Name != r.name {
				r.t.Fatalf("asked for %v", task.Name)
			}
			r.asked = append(r.asked, r.now.Sub(epoch))
			r.refuse(class)
		}
	}
}

// restart is a crash, and a start that lists the Job at once.
func (r *refusing) restart() {
	r.do("start")
	r.do("job demo")
	r.do("synced")
}

// records counts the records of refusals, and all of the Job.
func (r *refusing) records() (refusals, all int) {
	for rec, err := range r.log.ReadStream(r.t.Context(), events.JobStream("uid-demo"), 1, store.Forward) {
		r.must(err)
		all++
		if rec.Kind == events.KindCommandEnded {
			refusals++
		}
	}
	return refusals, all
}

// TestADayOfRefusalsIsAHandfulOfRecords: refusals of one class are tried 1 s, 2 s, 4 s … 60 s after one another (J-017), and
// recorded when their number has doubled and every half hour (design §5).
func TestADayOfRefusalsIsAHandfulOfRecords(t *testing.T) {
	r := newRefusing(t)
	r.tries(epoch.Add(24*time.Hour), events.RefusedQuota)
	var want []time.Duration
	for _, seconds := range []int{1, 3, 7, 15, 31, 63, 123, 183} {
		want = append(want, time.Duration(seconds)*time.Second)
	}
	if !slices.Equal(r.asked[:len(want)], want) {
		t.Errorf("asked after %v, want %v", r.asked[:len(want)], want)
	}
	if n := len(r.asked); n != 1444 {
		t.Errorf("asked %d times in a day, want 1444: six while the wait doubles, then once a minute", n)
	}
	refusals, all := r.records()
	t.Logf("a day of refusals: %d tries, %d records of them, %d records of the Job", len(r.asked), refusals, all)
	if refusals > 60 {
		t.Errorf("%d refusals are recorded, the limit is 60", refusals)
	}
	j := r.loop.World().Job(events.JobStream("uid-demo"))
	next, due := j.Creating.Next(&r.settings, r.now)
	if got := j.Creating.Count + due; got != 1445 || j.Creating.Since != epoch || next.Sub(r.now) > time.Minute {
		t.Errorf("the log knows of %d tries since %s, and the next in %s", got, j.Creating.Since.Sub(epoch), next.Sub(r.now))
	}
	r.check()
}

// TestRestartsDoNotChangeWhenARefusedCommandIsAskedAgain: the tries follow from the records alone, so they are the same with
// crashes at any time in between (J-017, wants: timers that survive restarts).
func TestRestartsDoNotChangeWhenARefusedCommandIsAskedAgain(t *testing.T) {
	classes := []events.RefusalClass{events.RefusedQuota, events.RefusedQuota, events.RefusedForbidden, events.RefusedNamespaceTerminating, events.RefusedQuota}
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 0))
		calm, rough := newRefusing(t), newRefusing(t)
		for _, class := range classes {
			until := calm.now.Add(time.Duration(rng.Int64N(int64(20 * time.Minute))))
			calm.tries(until, class)
			for range rng.IntN(5) {
				rough.tries(min(until, rough.now.Add(time.Duration(rng.Int64N(int64(10*time.Minute))))), class)
				rough.restart()
			}
			rough.tries(until, class)
		}
		if !slices.Equal(calm.asked, rough.asked) {
			t.Fatalf("seed %d: asked at %v, with restarts at %v", seed, calm.asked, rough.asked)
		}
		calm.check()
		rough.check()
	}
}

// TestTheClockMovesTriesAlong: what has been served of a wait stays served when the clock is set.
func TestTheClockMovesTriesAlong(t *testing.T) {
	r := newRefusing(t)
	r.tries(epoch.Add(10*time.Second), events.RefusedQuota)
	r.do("clock 3h") // steps forward by three hours, at once
	r.asked = nil
	r.tries(r.now.Add(6*time.Second), events.RefusedQuota)
	want := []time.Duration{3*time.Hour + 15*time.Second}
	if !slices.Equal(r.asked, want) {
		t.Errorf("asked after %v, want %v", r.asked, want)
	}
	r.check()
}
