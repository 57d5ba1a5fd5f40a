package explain

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// lateCase is a Job of ours that was seen in second 1, with one pod at a time.
func lateCase(change func(*Case)) *Case {
	c := &Case{
		Spec: &events.JobSpec{Parallelism: new(int32(1))}, added: seen(2, 1), reigns: []reign{{seen(2, 1), ourHands}}, startTime: sec(2), startSeen: seen(3, 2),
		misses: &misses{},
	}
	c.Job.Created, c.Job.AsOf.Time, c.Job.State = recorded(1), recorded(100), history.StateRunning
	if change != nil {
		change(c)
	}
	return c
}

// TestFromWhenOnAPodCouldBeAskedFor: from the Job's first sight on, or from the end of the pod before and of its
// backoff, or from an edit.
func TestFromWhenOnAPodCouldBeAskedFor(t *testing.T) {
	suspended := edit{At: seen(6, 20), Before: &events.JobSpec{Suspend: true}, After: &events.JobSpec{}}
	for _, row := range []struct {
		name   string
		i      int
		change func(*Case)
		is     bool
		from   Mark
	}{
		{"the first", 0, nil, true, seen(2, 1)},
		{"the next", 1, func(c *Case) { c.Tries = []*Try{{Ended: seen(5, 10)}} }, true, seen(5, 10)},
		{"behind a backoff", 1, func(c *Case) { c.Tries = []*Try{{Ended: seen(5, 10), Again: sec(15)}} }, true, Mark{At: sec(15)}},
		{"behind a backoff that was over", 1, func(c *Case) { c.Tries = []*Try{{Ended: seen(5, 10), Again: sec(10)}} }, true, seen(5, 10)},
		{"the one of before goes on", 1, func(c *Case) { c.Tries = []*Try{{}} }, false, seen(2, 1)},
		{"the one of before went without an end", 1, func(c *Case) { c.Tries = []*Try{{Gone: seen(5, 10)}} }, false, seen(2, 1)},
		{"the one of before went before its end was seen", 1, func(c *Case) { c.Tries = []*Try{{Gone: seen(4, 9), Ended: seen(5, 10)}} }, false, seen(2, 1)},
		{"the one of before went behind its end", 1, func(c *Case) { c.Tries = []*Try{{Gone: seen(6, 11), Ended: seen(5, 10)}} }, true, seen(5, 10)},
		{"several at once", 0, func(c *Case) { c.Spec.Parallelism = new(int32(2)) }, false, Mark{}},
		{"of a spec that is not known", 0, func(c *Case) { c.Spec = nil }, false, Mark{}},
		{"its first records are not kept", 0, func(c *Case) { c.added = Mark{} }, false, Mark{}},
		{"it was suspended until an edit", 1, func(c *Case) { c.edits = []edit{suspended}; c.Tries = []*Try{{Ended: seen(5, 10)}} }, true, seen(6, 20)},
		{"the first of one that was suspended", 0, func(c *Case) { c.edits = []edit{suspended} }, false, seen(6, 20)},
		{"an edit behind the decision", 0, func(c *Case) {
			c.edits = []edit{{At: seen(9, 30), Before: &events.JobSpec{}, After: &events.JobSpec{}}}
		}, true, seen(2, 1)},
	} {
		c := lateCase(row.change)
		if from, is := c.readyFor(row.i, seen(9, 30)); is != row.is || from != row.from {
			t.Errorf("%s: from %v, %t, want %v", row.name, from, is, row.from)
		}
	}
}

// TestWhatWasLate: from when on something could be seen or done, and when it was; nothing where clocks differ, or
// others had a part in it.
func TestWhatWasLate(t *testing.T) {
	try := &Try{Ordered: seen(5, 40), Seen: seen(6, 41), Created: sec(41), Index: events.NoIndex, Running: sec(42), Started: seen(7, 42), Finished: sec(50), Ended: seen(9, 70)}
	with := func(change func(*Case, *Try)) func(*Case) {
		return func(c *Case) {
			own := *try
			c.Tries = []*Try{&own}
			if change != nil {
				change(c, &own)
			}
		}
	}
	decided := &settling{Reason: "DeadlineExceeded", Decided: seen(20, 90)}
	due := func(c *Case, _ *Try) { c.Spec.ActiveDeadlineSeconds, c.settled = new(int64(60)), decided }
	for _, row := range []struct {
		name                        string
		change                      func(c *Case, x *Try)
		first, ordered, end, finish float64 // seconds from when on; 0 for nothing
	}{
		{"all is seen", due, 1, 1, 50, 62},
		{"another's", func(c *Case, x *Try) { due(c, x); c.reigns[0].Hands = otherHands }, 0, 0, 50, 0},
		{"it had begun", func(c *Case, _ *Try) { c.begun = "it had begun" }, 0, 1, 50, 0},
		{"the API server's clock is 3 s behind", func(c *Case, x *Try) { x.Created = sec(37) }, 1, 1, 50, 0},
		{"it is 4 s behind", func(c *Case, x *Try) { x.Created = sec(36) }, 0, 1, 50, 0},
		{"it is 3 s before", func(c *Case, x *Try) { x.Created = sec(44) }, 1, 1, 50, 0},
		{"it is 4 s before", func(c *Case, x *Try) { x.Created = sec(45) }, 0, 1, 50, 0},
		{"when it was created is not known", func(c *Case, x *Try) { x.Created = 0 }, 0, 1, 50, 0},
		{"its pod was seen 3 s behind the decision", func(c *Case, x *Try) { x.Seen, x.Created = seen(6, 43), sec(40) }, 1, 1, 50, 0},
		{"its pod was seen 4 s behind the decision", func(c *Case, x *Try) { x.Seen, x.Created = seen(6, 44), sec(40) }, 0, 1, 50, 0},
		{"nobody ordered it", func(c *Case, x *Try) { x.Ordered = Mark{} }, 0, 0, 50, 0},
		{"it has an index", func(c *Case, x *Try) { x.Index = 0 }, 1, 0, 50, 0},
		{"creates were refused", func(c *Case, _ *Try) { c.refusals = []*refusal{{Kind: events.CommandCreatePod}} }, 1, 0, 50, 0},
		{"writes were refused", func(c *Case, x *Try) { due(c, x); c.refusals = []*refusal{{Kind: events.CommandWriteStatus}} }, 1, 1, 50, 0},
		{"its node's clock is 3 s behind", func(c *Case, x *Try) { x.Running = sec(39) }, 1, 1, 50, 0},
		{"it is 4 s behind, of the node", func(c *Case, x *Try) { x.Running = sec(38) }, 1, 1, 0, 0},
		{"it is 4 s before, of the node", func(c *Case, x *Try) { x.Running = sec(46) }, 1, 1, 0, 0},
		{"since when it ran is not known", func(c *Case, x *Try) { x.Running = 0 }, 1, 1, 0, 0},
		{"when it ended is not known", func(c *Case, x *Try) { x.Finished = 0 }, 1, 1, 0, 0},
		{"it goes on", func(c *Case, x *Try) { x.Ended = Mark{} }, 1, 1, 0, 0},
		{"its start was seen late", func(c *Case, x *Try) { due(c, x); c.startSeen = seen(4, 65) }, 1, 1, 50, 65},
		{"its deadline came by an edit", func(c *Case, x *Try) {
			due(c, x)
			c.edits = []edit{{At: seen(15, 80), Before: &events.JobSpec{}, After: c.Spec}}
		}, 1, 1, 50, 80},
		{"it failed for another reason", func(c *Case, x *Try) {
			due(c, x)
			c.settled = &settling{Reason: "BackoffLimitExceeded", Decided: seen(20, 90)}
		}, 1, 1, 50, 0},
		{"its status alone says it", func(c *Case, x *Try) {
			due(c, x)
			c.settled = &settling{Reason: "DeadlineExceeded", Seen: seen(20, 90)}
		}, 1, 1, 50, 0},
		{"when it started is not known", func(c *Case, x *Try) { due(c, x); c.startTime = 0 }, 1, 1, 50, 0},
		{"it has no deadline", func(c *Case, x *Try) { due(c, x); c.Spec.ActiveDeadlineSeconds = nil }, 1, 1, 50, 0},
	} {
		c := lateCase(with(row.change))
		for i, got := range []lateness{c.seenLate(), c.orderedLate(0), c.endSeenLate(c.Tries[0]), c.deadlineLate()} {
			want := []float64{row.first, row.ordered, row.end, row.finish}[i]
			if (got.to.Record != 0) != (want != 0) || want != 0 && got.from.At != sec(want) {
				t.Errorf("%s: number %d from %s, want %v", row.name, i, got.from.At.Sub(sec(0)), want)
			}
		}
	}
}

// TestClockStepsBetween: a jump of our clock between two times, or so near that it moved one of them.
func TestClockStepsBetween(t *testing.T) {
	for _, row := range []struct {
		at   float64
		by   time.Duration
		want bool
	}{{50, time.Second, true}, {39, time.Second, true}, {38.9, time.Second, false}, {61, -time.Second, true}, {61.1, -time.Second, false}, {30, 10 * time.Second, true}} {
		c := &Case{steps: []clockStep{{seen(5, row.at), row.by}}}
		if got := c.stepBetween(sec(40), sec(60)); got != row.want {
			t.Errorf("%+v: %t", row, got)
		}
	}
}

// TestBounds: what is told, or not, exactly at a bound.
func TestBounds(t *testing.T) {
	c := &Case{Gaps: []*history.Gap{{From: recorded(100), Until: recorded(200), Listing: 5}}, misses: &misses{}}
	c.Job.AsOf.Time, c.Job.State = recorded(1000), history.StateRunning
	for _, row := range []struct {
		created, end float64
		want         bool
	}{{1, 1000, true}, {199, 1000, true}, {200, 1000, false}, {1, 101, true}, {1, 100, false}} {
		c.Job.Created, c.gone = recorded(row.created), seen(50, row.end)
		if got := len(c.touching()) == 1; got != row.want {
			t.Errorf("%+v: it touches: %t", row, got)
		}
	}
	begins := &Case{added: seen(4, 10), Gaps: []*history.Gap{{Until: recorded(10), Listing: 3}}}
	begins.Job.Created, begins.Job.AsOf.Time = recorded(9), recorded(50)
	if len(begins.touching()) != 0 {
		t.Error("a Job that was found at once is older than the log")
	}
	if begins.Job.Created = recorded(8); len(begins.touching()) != 1 {
		t.Error("a Job that is older than the log by 2 s is not")
	}
	for created, want := range map[float64]float64{9: 10, 8.1: 10, 8: 8, 3: 3} {
		if begins.Job.Created = recorded(created); begins.start() != sec(want) {
			t.Errorf("created at %v, it began at %s", created, begins.start().Sub(sec(0)))
		}
	}
	pruned := &Case{Tries: []*Try{{Seen: seen(5, 7)}}}
	if pruned.start() != sec(7) {
		t.Errorf("where its creation is not known it began at %d", pruned.start())
	}
}

// TestWhenAPodHangs: more than 30 s behind the time that it was given.
func TestWhenAPodHangs(t *testing.T) {
	hang := &Case{Tries: []*Try{{AskedSeen: seen(5, 10), Asked: sec(10), Grace: new(int64(20))}}}
	for end, want := range map[float64]int{60: 0, 60.1: 1, 100: 1} {
		if hang.Job.AsOf.Time = recorded(end); len(hang.hanging()) != want {
			t.Errorf("as of %v %d hang", end, len(hang.hanging()))
		}
	}
}

// TestWhenATTLHasPassed: with its last second, of a Job that has ended.
func TestWhenATTLHasPassed(t *testing.T) {
	expires := &Case{Spec: &events.JobSpec{TTLSecondsAfterFinished: new(int32(10))}}
	expires.Job.State, expires.Job.Finished = history.StateFailed, recorded(20)
	for at, want := range map[float64]bool{29: false, 30: true, 31: true} {
		if expires.expiredBefore(sec(at)) != want {
			t.Errorf("at %v its TTL had passed: %t", at, !want)
		}
	}
	if expires.Job.State = history.StateRunning; expires.expiredBefore(sec(99)) {
		t.Error("the TTL of a Job that runs has passed")
	}
}
