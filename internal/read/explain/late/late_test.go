package late

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

// lateCase is a Job of ours that was seen in second 1, with one pod at a time.
func lateCase(change func(*jobcase.Case)) *jobcase.Case {
	c := &jobcase.Case{
		Spec: &events.JobSpec{Parallelism: new(int32(1))}, Added: whentest.Seen(2, 1),
		Reigns: []jobcase.Reign{{From: whentest.Seen(2, 1), Hands: jobcase.OurHands}}, StartTime: whentest.Sec(2),
		StartSeen: whentest.Seen(3, 2),
		Misses:    &explain.Misses{},
	}
	c.Job.Created, c.Job.AsOf.Time, c.Job.State = whentest.Recorded(1), whentest.Recorded(100), history.StateRunning
	if change != nil {
		change(c)
	}
	return c
}

// TestFromWhenOnAPodCouldBeAskedFor: from the Job's first sight on, or from the end of the pod before and of its
// backoff, or from an edit.
func TestFromWhenOnAPodCouldBeAskedFor(t *testing.T) {
	suspended := jobcase.Edit{At: whentest.Seen(6, 20), Before: &events.JobSpec{Suspend: true}, After: &events.JobSpec{}}
	for _, row := range []struct {
		name   string
		i      int
		change func(*jobcase.Case)
		is     bool
		from   explain.Mark
	}{
		{"the first", 0, nil, true, whentest.Seen(2, 1)},
		{"the next", 1, func(c *jobcase.Case) { c.Tries = []*try.Try{{Ended: whentest.Seen(5, 10)}} }, true, whentest.Seen(5,
			10)},
		{"behind a backoff", 1, func(c *jobcase.Case) {
			c.Tries = []*try.Try{{Ended: whentest.Seen(5, 10),
				Again: whentest.Sec(15)}}
		}, true, explain.Mark{At: whentest.Sec(15)}},
		{"behind a backoff that was over", 1, func(c *jobcase.Case) {
			c.Tries = []*try.Try{{Ended: whentest.Seen(5, 10),
				Again: whentest.Sec(10)}}
		}, true, whentest.Seen(5, 10)},
		{"the one of before goes on", 1, func(c *jobcase.Case) { c.Tries = []*try.Try{{}} }, false, whentest.Seen(2, 1)},
		{"the one of before went without an end", 1, func(c *jobcase.Case) {
			c.Tries = []*try.Try{{Gone: whentest.Seen(5,
				10)}}
		}, false, whentest.Seen(2, 1)},
		{"the one of before went before its end was seen", 1,
			func(c *jobcase.Case) { c.Tries = []*try.Try{{Gone: whentest.Seen(4, 9), Ended: whentest.Seen(5, 10)}} }, false,
			whentest.Seen(2, 1)},
		{"the one of before went behind its end", 1, func(c *jobcase.Case) {
			c.Tries = []*try.Try{{Gone: whentest.Seen(6, 11),
				Ended: whentest.Seen(5, 10)}}
		}, true, whentest.Seen(5, 10)},
		{"the one of before was gone with its end", 1, func(c *jobcase.Case) {
			c.Tries = []*try.Try{{Gone: whentest.Seen(5, 10), Ended: whentest.Seen(5, 10)}}
		}, true, whentest.Seen(5, 10)},
		{"several at once", 0, func(c *jobcase.Case) { c.Spec.Parallelism = new(int32(2)) }, false, explain.Mark{}},
		{"of a spec that is not known", 0, func(c *jobcase.Case) { c.Spec = nil }, false, explain.Mark{}},
		{"its first records are not kept", 0, func(c *jobcase.Case) { c.Added = explain.Mark{} }, false, explain.Mark{}},
		{"it was suspended until an edit", 1, func(c *jobcase.Case) {
			c.Edits = []jobcase.Edit{suspended}
			c.Tries = []*try.Try{{Ended: whentest.Seen(5, 10)}}
		}, true, whentest.Seen(6, 20)},
		{"the first of one that was suspended", 0, func(c *jobcase.Case) { c.Edits = []jobcase.Edit{suspended} }, false,
			whentest.Seen(6, 20)},
		{"an edit behind the decision", 0, func(c *jobcase.Case) {
			c.Edits = []jobcase.Edit{{At: whentest.Seen(9, 30), Before: &events.JobSpec{}, After: &events.JobSpec{}}}
		}, true, whentest.Seen(2, 1)},
	} {
		c := lateCase(row.change)
		if from, is := readyFor(c, row.i, whentest.Seen(9, 30)); is != row.is || from != row.from {
			t.Errorf("%s: from %v, %t, want %v", row.name, from, is, row.from)
		}
	}
}

// TestWhatWasLate: from when on something could be seen or done, and when it was; nothing where clocks differ, or
// others had a part in it.
func TestWhatWasLate(t *testing.T) {
	pod := &try.Try{Ordered: whentest.Seen(5, 40), Seen: whentest.Seen(6, 41), Created: whentest.Sec(41),
		Index: events.NoIndex, Running: whentest.Sec(42), Started: whentest.Seen(7, 42), Finished: whentest.Sec(50),
		Ended: whentest.Seen(9, 70)}
	with := func(change func(*jobcase.Case, *try.Try)) func(*jobcase.Case) {
		return func(c *jobcase.Case) {
			own := *pod
			c.Tries = []*try.Try{&own}
			if change != nil {
				change(c, &own)
			}
		}
	}
	decided := &jobcase.Settling{Reason: "DeadlineExceeded", Decided: whentest.Seen(20, 90)}
	due := func(c *jobcase.Case, _ *try.Try) { c.Spec.ActiveDeadlineSeconds, c.Settled = new(int64(60)), decided }
	for _, row := range []struct {
		name                        string
		change                      func(c *jobcase.Case, x *try.Try)
		first, ordered, end, finish float64 // seconds from when on; 0 for nothing
	}{
		{"all is seen", due, 1, 1, 50, 62},
		{"another's", func(c *jobcase.Case, x *try.Try) { due(c, x); c.Reigns[0].Hands = jobcase.OtherHands }, 0, 0, 50, 0},
		{"it had begun", func(c *jobcase.Case, _ *try.Try) { c.Begun = "it had begun" }, 0, 1, 50, 0},
		{"the API server's clock is 3 s behind", func(c *jobcase.Case, x *try.Try) { x.Created = whentest.Sec(37) }, 1, 1, 50,
			0},
		{"it is 4 s behind", func(c *jobcase.Case, x *try.Try) { x.Created = whentest.Sec(36) }, 0, 1, 50, 0},
		{"it is 3 s before", func(c *jobcase.Case, x *try.Try) { x.Created = whentest.Sec(44) }, 1, 1, 50, 0},
		{"it is 4 s before", func(c *jobcase.Case, x *try.Try) { x.Created = whentest.Sec(45) }, 0, 1, 50, 0},
		{"when it was created is not known", func(c *jobcase.Case, x *try.Try) { x.Created = 0 }, 0, 1, 50, 0},
		{"its pod was seen 3 s behind the decision", func(c *jobcase.Case, x *try.Try) {
			x.Seen, x.Created = whentest.Seen(6,
				43), whentest.Sec(40)
		}, 1, 1, 50, 0},
		{"its pod was seen 4 s behind the decision", func(c *jobcase.Case, x *try.Try) {
			x.Seen, x.Created = whentest.Seen(6,
				44), whentest.Sec(40)
		}, 0, 1, 50, 0},
		{"nobody ordered it", func(c *jobcase.Case, x *try.Try) { x.Ordered = explain.Mark{} }, 0, 0, 50, 0},
		{"it has an index", func(c *jobcase.Case, x *try.Try) { x.Index = 0 }, 1, 0, 50, 0},
		{"creates were refused", func(c *jobcase.Case,
			_ *try.Try) {
			c.Refusals = []*jobcase.Refusal{{Kind: events.CommandCreatePod}}
		}, 1, 0, 50, 0},
		{"writes were refused", func(c *jobcase.Case, x *try.Try) {
			due(c, x)
			c.Refusals = []*jobcase.Refusal{{Kind: events.CommandWriteStatus}}
		}, 1, 1, 50, 0},
		{"its node's clock is 3 s behind", func(c *jobcase.Case, x *try.Try) { x.Running = whentest.Sec(39) }, 1, 1, 50, 0},
		{"it is 4 s behind, of the node", func(c *jobcase.Case, x *try.Try) { x.Running = whentest.Sec(38) }, 1, 1, 0, 0},
		{"it is 4 s before, of the node", func(c *jobcase.Case, x *try.Try) { x.Running = whentest.Sec(46) }, 1, 1, 0, 0},
		{"since when it ran is not known", func(c *jobcase.Case, x *try.Try) { x.Running = 0 }, 1, 1, 0, 0},
		{"when it ended is not known", func(c *jobcase.Case, x *try.Try) { x.Finished = 0 }, 1, 1, 0, 0},
		{"it goes on", func(c *jobcase.Case, x *try.Try) { x.Ended = explain.Mark{} }, 1, 1, 0, 0},
		{"its start was seen late", func(c *jobcase.Case, x *try.Try) { due(c, x); c.StartSeen = whentest.Seen(4, 65) }, 1, 1,
			50, 65},
		{"its deadline came by an edit", func(c *jobcase.Case, x *try.Try) {
			due(c, x)
			c.Edits = []jobcase.Edit{{At: whentest.Seen(15, 80), Before: &events.JobSpec{}, After: c.Spec}}
		}, 1, 1, 50, 80},
		{"it failed for another reason", func(c *jobcase.Case, x *try.Try) {
			due(c, x)
			c.Settled = &jobcase.Settling{Reason: "BackoffLimitExceeded", Decided: whentest.Seen(20, 90)}
		}, 1, 1, 50, 0},
		{"its status alone says it", func(c *jobcase.Case, x *try.Try) {
			due(c, x)
			c.Settled = &jobcase.Settling{Reason: "DeadlineExceeded", Seen: whentest.Seen(20, 90)}
		}, 1, 1, 50, 0},
		{"when it started is not known", func(c *jobcase.Case, x *try.Try) { due(c, x); c.StartTime = 0 }, 1, 1, 50, 0},
		{"it has no deadline", func(c *jobcase.Case, x *try.Try) { due(c, x); c.Spec.ActiveDeadlineSeconds = nil }, 1, 1, 50,
			0},
	} {
		c := lateCase(with(row.change))
		for i, got := range []lateness{seenLate(c), orderedLate(c, 0), endSeenLate(c, c.Tries[0]), deadlineLate(c)} {
			want := []float64{row.first, row.ordered, row.end, row.finish}[i]
			if (got.to.Record != 0) != (want != 0) || want != 0 && got.from.At != whentest.Sec(want) {
				t.Errorf("%s: number %d from %s, want %v", row.name, i, got.from.At.Sub(whentest.Sec(0)), want)
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
	}{{50, time.Second, true}, {39, time.Second, true}, {38.9, time.Second, false}, {61, -time.Second, true}, {61.1,
		-time.Second, false}, {30, 10 * time.Second, true}} {
		c := &jobcase.Case{Steps: []jobcase.ClockStep{{Mark: whentest.Seen(5, row.at), By: row.by}}}
		if got := stepBetween(c, whentest.Sec(40), whentest.Sec(60)); got != row.want {
			t.Errorf("%+v: %t", row, got)
		}
	}
}
