package spent

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestTheLastTries: the one that succeeded last, and the one of several indexes that ended last.
func TestTheLastTries(t *testing.T) {
	ended := func(pod string, index int32, record events.Sequence, phase events.PodPhase, by try.By) *try.Try {
		x := &try.Try{Pod: pod, Index: index, Phase: phase, Judged: &try.Ending{By: by}}
		if record != 0 {
			x.Ended = whentest.Seen(record, float64(record))
		}
		return x
	}
	const ok, bad = events.PodSucceeded, events.PodFailed
	for _, row := range []struct {
		name           string
		tries          []*try.Try
		success, index string
	}{
		{"none", nil, "", ""},
		{"one index", []*try.Try{ended("a", 1, 5, ok, try.ByItself), ended("b", 1, 6, ok, try.ByItself)}, "b", ""},
		{"two indexes", []*try.Try{ended("a", 0, 9, ok, try.ByItself), ended("b", 1, 6, ok, try.ByItself)}, "a", "a"},
		{"the other way", []*try.Try{ended("a", 0, 5, ok, try.ByItself), ended("b", 1, 6, ok, try.ByItself)}, "b", "b"},
		{"the second of three", []*try.Try{ended("a", 0, 5, ok, try.ByItself), ended("b", 1, 8, ok, try.ByItself),
			ended("c", 1, 7, ok, try.ByItself)}, "b", "b"},
		{"no index", []*try.Try{ended("a", 0, 5, ok, try.ByItself), ended("b", events.NoIndex, 6, ok, try.ByItself)}, "b",
			""},
		{"it failed", []*try.Try{ended("a", 0, 5, ok, try.ByItself), ended("b", 1, 6, bad, try.ByItself)}, "a", "b"},
		{"it was stopped", []*try.Try{ended("a", 0, 5, ok, try.ByItself), ended("b", 1, 6, ok, try.ByUs)}, "a", "b"},
		{"one goes on", []*try.Try{ended("a", 0, 5, ok, try.ByItself), ended("b", 1, 0, 0, try.ByNobody)}, "a", "a"},
		{"all go on", []*try.Try{ended("a", 0, 0, 0, try.ByNobody), ended("b", 1, 0, 0, try.ByNobody)}, "", ""},
	} {
		for _, x := range row.tries {
			if x.Phase == events.PodSucceeded {
				x.Counted = try.CountedSucceeded
			}
		}
		c := &jobcase.Case{Tries: row.tries, Settled: &jobcase.Settling{}}
		for i, got := range []*try.Try{lastSuccess(c), decisiveIndex(c)} {
			pod := ""
			if got != nil {
				pod = got.Pod
			}
			if want := []string{row.success, row.index}[i]; pod != want {
				t.Errorf("%s: %d: %q, want %q", row.name, i, pod, want)
			}
		}
	}
}

// TestADelayIsToldFirst: of a completed Job, from 5 s on, and from half of its time on.
func TestADelayIsToldFirst(t *testing.T) {
	for _, row := range []struct {
		name  string
		state history.State
		waits float64 // for a node
		runs  float64
		want  bool
	}{
		{"5 s", history.StateComplete, 5, 5, true},
		{"almost 5 s", history.StateComplete, 4.999, 1, false},
		{"less than half", history.StateComplete, 5, 5.001, false},
		{"more than half", history.StateComplete, 8, 5, true},
		{"it failed", history.StateFailed, 8, 1, false},
		{"it goes on", history.StateRunning, 8, 1, false},
	} {
		end := row.waits + row.runs
		c := &jobcase.Case{
			Added: whentest.Seen(1, 0), Settled: &jobcase.Settling{Over: whentest.Seen(9, end)},
			Tries: []*try.Try{{
				Seen: whentest.Seen(2, 0), Placed: whentest.Seen(3, row.waits), Started: whentest.Seen(4, row.waits),
				Ended: whentest.Seen(5, end), Phase: events.PodSucceeded, Index: events.NoIndex,
			}},
			Misses: &explain.Misses{},
		}
		c.Job.State, c.Job.Created = row.state, whentest.Recorded(0)
		d, is := delayed(c, PhaseScheduling)
		if is != row.want || is && d != time.Duration(row.waits*1e9) {
			t.Errorf("%s: %t, %s", row.name, is, d)
		}
	}
	c := &jobcase.Case{}
	c.Job.State = history.StateComplete
	if _, is := delayed(c, PhaseScheduling); is {
		t.Error("a Job without tries was delayed")
	}
}
