package executor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
)

// load is tasks of one priority that come at an even pace, each for its own object.
type load struct {
	name     string
	priority events.Priority
	rate     int // tasks a second
	jobs     int // the tasks go round these Jobs
	drops    bool
}

// serve runs loads for half a minute against a server that answers each call after 50 ms, ten at a time: 200 calls a
// second. It returns for each load how long its tasks waited until they were sent. A task that still waits counts, too.
func serve(t *testing.T, loads []load) map[string][]time.Duration {
	t.Helper()
	const slots, takes, step = 10, 50 * time.Millisecond, 5 * time.Millisecond
	s := newScript(t)
	s.e.limit.max, s.e.limit.size = slots, slots
	waits, came, ends := map[string][]time.Duration{}, map[string]events.Time{}, map[string]events.Time{}
	begin := s.now
	for ; s.now < begin.Add(30*time.Second); s.now = s.now.Add(step) {
		var over []string
		for name, at := range ends {
			if at <= s.now {
				over = append(over, name)
			}
		}
		slices.Sort(over)
		for _, name := range over {
			delete(ends, name)
			s.endsAs(name, events.CommandEnded{Ending: events.Done}, 0) // Sent is false, so the window keeps its size
		}
		for _, l := range loads {
			before, now := int(s.now.Sub(begin))*l.rate/int(time.Second), int(s.now.Add(step).Sub(begin))*l.rate/int(time.Second)
			for i := before; i < now; i++ {
				job, pod := fmt.Sprintf("%s-%d", l.name, i%l.jobs), fmt.Sprint(i)
				came[job+"/"+pod] = s.now
				s.submitAs(job, pod, l.priority, l.drops)
			}
		}
		for _, name := range s.next() {
			kind, _, _ := strings.Cut(name, "-")
			waits[kind] = append(waits[kind], s.now.Sub(came[name]))
			ends[name] = s.now.Add(takes)
		}
	}
	for name := range s.e.waiting {
		task := s.names[name]
		kind, _, _ := strings.Cut(task, "-")
		waits[kind] = append(waits[kind], s.now.Sub(came[task]))
	}
	for _, all := range waits {
		slices.Sort(all)
	}
	return waits
}

// TestNothingWaitsLongerThanTwoSeconds: while the server keeps up, no task waits longer. It does not matter how much
// else is more urgent, or of which Job the task is.
func TestNothingWaitsLongerThanTwoSeconds(t *testing.T) {
	for _, row := range []struct {
		sentence string
		loads    []load
	}{
		{"progress of many Jobs beside verdicts that take nearly all", []load{
			{"verdict", events.PriorityFinish, 170, 500, false}, {"progress", events.PriorityProgress, 20, 100, false},
		}},
		{"each kind beside the others", []load{
			{"deletion", events.PriorityDeletion, 40, 40, true}, {"verdict", events.PriorityFinish, 30, 100, false},
			{"due", events.PriorityDue, 30, 100, false}, {"left", events.PriorityLeft, 30, 50, true},
			{"create", events.PriorityBulk, 30, 1, false}, {"drop", events.PriorityBulk, 20, 1, true},
			{"progress", events.PriorityProgress, 10, 50, false},
		}},
		{"the finalizers of a big Job beside the pods of small ones", []load{
			{"due", events.PriorityDue, 150, 300, false}, {"drop", events.PriorityBulk, 40, 1, true},
		}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			for kind, waits := range serve(t, row.loads) {
				if longest := waits[len(waits)-1]; longest > 2*time.Second {
					t.Errorf("%s: of %d tasks one waited %s", kind, len(waits), longest)
				}
			}
		})
	}
}

// TestWhatGoesFirstInAFullWindow: more is submitted than the server can take, so some tasks wait long. Verdicts, and
// pods whose time has come, do not.
func TestWhatGoesFirstInAFullWindow(t *testing.T) {
	waits := serve(t, []load{
		{"verdict", events.PriorityFinish, 20, 100, false}, {"due", events.PriorityDue, 40, 100, false},
		{"left", events.PriorityLeft, 40, 20, true}, {"drop", events.PriorityBulk, 150, 1, true},
		{"create", events.PriorityBulk, 50, 1, false}, {"progress", events.PriorityProgress, 20, 100, false},
	})
	median := func(kind string) time.Duration { return waits[kind][len(waits[kind])/2] }
	for _, of := range []struct {
		kind string
		most time.Duration
	}{{"verdict", 50 * time.Millisecond}, {"due", 50 * time.Millisecond}, {"left", 200 * time.Millisecond}} {
		if got := median(of.kind); got > of.most {
			t.Errorf("%s waits %s, want %s at most", of.kind, got, of.most)
		}
	}
	if create, drop := median("create"), median("drop"); create > drop {
		t.Errorf("a create waits %s, a finalizer %s", create, drop)
	}
	if most := waits["progress"][len(waits["progress"])-1]; most > 15*time.Second {
		t.Errorf("progress waited %s, though some calls are its own", most)
	}
}

// TestCreatesAndFinalizersOfAJobTakeTurns: the create of a pod does not wait for the finalizers of all pods that ended
// before, and these do not wait for the creates.
func TestCreatesAndFinalizersOfAJobTakeTurns(t *testing.T) {
	s := newScript(t)
	for i := range 3 {
		s.submitAs("a", fmt.Sprint("drop", i), events.PriorityBulk, true)
	}
	for i := range 4 {
		s.submitAs("a", fmt.Sprint("create", i), events.PriorityBulk, false)
	}
	s.submitAs("a", "surplus", events.PriorityUnblock, true)
	s.wants(s.drain(), "a/surplus, a/create0, a/drop0, a/create1, a/drop1, a/create2, a/drop2, a/create3")
}
