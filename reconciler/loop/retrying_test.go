package loop_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
)

// refusing is a Job with a create that is refused whenever it is tried.
type refusing struct {
	*machine
	name  events.CommandID
	asked []time.Duration // times of the tries, since the first refusal
	due   []time.Duration // the tries that the backoff asked for; the others are probes
}

func newRefusing(t *testing.T) *refusing {
	r := &refusing{machine: newMachine(t), name: events.CommandID{Decided: 9}}
	r.do("start")
	r.do("synced")
	r.do("job demo")
	r.refuse(events.RefusedQuota)
	return r
}

func (r *refusing) refuse(class events.RefusalClass) {
	r.turn(loop.Input{Result: &events.TaskResult{
		Stream: events.JobStream("uid-demo"),
		Ended:  events.CommandEnded{Command: r.name, Ending: events.Refused, Class: class, Sent: true},
	}})
}

// tries lets time pass until `until`, and refuses every try.
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
			retry := r.loop.World().Job(events.JobStream("uid-demo")).Creating()
			if at, _ := retry.Next(&r.settings, r.now-1); at == r.now {
				r.due = append(r.due, r.now.Sub(epoch))
			}
			r.refuse(class)
		}
	}
}

// restart crashes the controller. The next one lists the Job at once, and a try that came due meanwhile is refused.
func (r *refusing) restart(class events.RefusalClass) {
	out := r.do("start") + r.do("job demo") + r.do("synced")
	if asks, _ := r.loop.Asks(); len(asks) > 0 || strings.Contains(out, "asks again") {
		r.refuse(class)
	}
}

// records counts the records of refusals, and all records of the Job.
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

// TestADayOfRefusalsIsAHandfulOfRecords: refusals of one class are tried again after 1 s, 2 s, 4 s and so on up to 60 s
// (J-017). They are recorded whenever their number has doubled, and every half hour (design §5).
func TestADayOfRefusalsIsAHandfulOfRecords(t *testing.T) {
	r := newRefusing(t)
	r.tries(epoch.Add(24*time.Hour), events.RefusedQuota)
	var want []time.Duration
	for _, seconds := range []int{1, 3, 7, 15, 31, 63, 123, 183} {
		want = append(want, time.Duration(seconds)*time.Second)
	}
	if !slices.Equal(r.due[:len(want)], want) {
		t.Errorf("asked after %v, want %v", r.due[:len(want)], want)
	}
	if n := len(r.due); n != 1444 {
		t.Errorf("asked %d times in a day, want 1444: six while the wait doubles, then once a minute", n)
	}
	if n := len(r.asked); n < 21_600 || n > 21_610 { // the only refused create of its namespace, so it probes
		t.Errorf("asked %d times in a day with probes, want one every four seconds", n)
	}
	refusals, all := r.records()
	t.Logf("a day of refusals: %d tries, %d records of them, %d records of the Job", len(r.asked), refusals, all)
	if refusals > 60 {
		t.Errorf("%d refusals are recorded, the limit is 60", refusals)
	}
	j := r.loop.World().Job(events.JobStream("uid-demo"))
	next, due := j.Creating().Next(&r.settings, r.now)
	if got := j.Creating().Count + due; got != 1445 || j.Creating().Since != epoch || next.Sub(r.now) > time.Minute {
		t.Errorf("the log knows of %d tries since %s, and the next in %s", got, j.Creating().Since.Sub(epoch), next.Sub(r.now))
	}
	r.check()
}

// TestRestartsDoNotChangeWhenARefusedCommandIsAskedAgain: the times of the tries follow from the records alone, so
// crashes at any time do not change them (J-017, wants: timers that survive restarts). Two kinds of tries come on top:
// probes, and a try that came due while no controller ran.
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
				rough.restart(class)
			}
			rough.tries(until, class)
		}
		if !slices.Equal(calm.due, rough.due) {
			t.Fatalf("seed %d: asked at %v, with restarts at %v", seed, calm.due, rough.due)
		}
		calm.check()
		rough.check()
	}
}

// TestTheClockMovesTriesAlong: when the clock is set, the part of a wait that has passed stays passed.
func TestTheClockMovesTriesAlong(t *testing.T) {
	r := newRefusing(t)
	r.tries(epoch.Add(10*time.Second), events.RefusedQuota)
	r.do("clock 3h") // steps forward by three hours
	r.due = nil
	r.tries(r.now.Add(6*time.Second), events.RefusedQuota)
	want := []time.Duration{3*time.Hour + 15*time.Second}
	if !slices.Equal(r.due, want) {
		t.Errorf("asked after %v, want %v", r.due, want)
	}
	r.check()
}

// TestATryThatCameDueWhileNobodyRanIsMadeAtTheStart: it does not wait once more, however long the wait before the next
// try is.
func TestATryThatCameDueWhileNobodyRanIsMadeAtTheStart(t *testing.T) {
	r := newRefusing(t)
	r.tries(epoch.Add(10*time.Minute), events.RefusedQuota)
	due, _ := r.loop.World().Job(events.JobStream("uid-demo")).Creating().Next(&r.settings, r.now)
	r.now = due.Add(2 * time.Second) // no controller runs
	r.do("start")
	r.do("job demo")
	if news := r.do("synced"); !strings.Contains(news, "(asks again: 9/0") {
		t.Errorf("nothing is asked at the start, though it was due two seconds before:\n%s", news)
	}
	r.check()
}

// crowd is Jobs of one namespace. Their creates are refused while a cause lasts.
type crowd struct {
	*machine
	cause func(events.Stream) bool // whether the cause lasts for a Job; nil if it does for all
	left  map[events.CommandID]events.Stream
	tries int
}

func newCrowd(t *testing.T, n int) *crowd {
	c := &crowd{machine: newMachine(t), left: map[events.CommandID]events.Stream{}}
	c.do("start")
	c.do("synced")
	for i := range n {
		job := fmt.Sprintf("demo%d", i)
		c.do("job " + job)
		name := events.CommandID{Decided: events.Sequence(c.newestDecision(job))}
		c.left[name] = events.JobStream(types.UID("uid-" + job))
		c.answer(name)
	}
	return c
}

// answer gives the server's answer to one create.
func (c *crowd) answer(name events.CommandID) {
	stream := c.left[name]
	ended := events.CommandEnded{Command: name, Ending: events.Refused, Class: events.RefusedForbidden, Sent: true}
	if c.cause != nil && !c.cause(stream) {
		c.version++
		ended = events.CommandEnded{Command: name, Ending: events.Done, UID: types.UID("pod of " + stream.ID), Version: c.version, Sent: true}
		delete(c.left, name)
	}
	c.turn(loop.Input{Result: &events.TaskResult{Stream: stream, Ended: ended}})
}

// until lets time pass until `then`, or until done reports true. It returns the time at which it stopped.
func (c *crowd) until(then events.Time, done func() bool) events.Time {
	for !done() {
		asks, _ := c.loop.Asks()
		for _, task := range asks {
			if isCreate(task) {
				c.tries++
				c.answer(task.Name)
			}
		}
		if len(asks) > 0 {
			continue
		}
		wake := c.loop.Wake()
		if wake == 0 || wake > then {
			c.now = then
			break
		}
		c.now = max(wake, c.now)
		c.turn()
	}
	return c.now
}

func isCreate(task events.Task) bool {
	_, is := task.Command.(*events.CreatePod)
	return is
}

// TestOneCreateOfANamespaceProbes: while the creates of a namespace are refused, one of them is tried every four
// seconds. The first that succeeds frees the others, so within five seconds after the cause is gone. Probes are not
// recorded, and move no wait.
func TestOneCreateOfANamespaceProbes(t *testing.T) {
	const n = 3
	c := newCrowd(t, n)
	c.until(epoch.Add(10*time.Minute), func() bool { return false })
	records, tries := c.log.Head().Sequence, c.tries
	c.until(c.now.Add(10*time.Minute), func() bool { return false })
	if most := n*10 + 150; c.tries-tries > most || c.tries-tries < 150 {
		t.Errorf("%d tries in ten minutes, want at most %d: one a minute for each Job, and one every four seconds for all", c.tries-tries, most)
	}
	if more := c.log.Head().Sequence - records; more > 10 {
		t.Errorf("%d records in ten minutes of refusals", more)
	}
	c.check()
}

// TestWhatIsRefusedInANamespaceIsFreedTogether: the creates of a hundred Jobs are refused for a quarter of an hour.
// When a cause is gone, the Jobs that it held up go on together.
func TestWhatIsRefusedInANamespaceIsFreedTogether(t *testing.T) {
	for _, tt := range []struct {
		sentence string
		still    func(events.Stream) bool // whether the cause stays for a Job
		within   time.Duration
	}{
		{"the cause is gone for all", func(events.Stream) bool { return false }, 5 * time.Second},
		{"of two causes one stays", func(s events.Stream) bool { return s.ID[len(s.ID)-1]%2 == 0 }, 10 * time.Second},
	} {
		t.Run(tt.sentence, func(t *testing.T) {
			c := newCrowd(t, 100)
			c.until(epoch.Add(15*time.Minute+10*time.Second), func() bool { return false })
			c.cause = tt.still
			gone := c.now
			took := c.until(gone.Add(2*time.Minute), func() bool {
				for _, s := range c.left {
					if !tt.still(s) {
						return false
					}
				}
				return true
			}).Sub(gone)
			t.Logf("all that may be made are made after %s", took)
			if took > tt.within {
				t.Errorf("all that may be made are made after %s, want at most %s", took, tt.within)
			}
		})
	}
}
