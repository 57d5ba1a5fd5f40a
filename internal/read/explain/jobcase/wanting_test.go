package jobcase

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// TestALackBeginsAndEnds: short ones are forgotten.
func TestALackBeginsAndEnds(t *testing.T) {
	var w wanting
	w.end(whentest.Seen(1, 1))
	w.begin(whentest.Seen(2, 10), 3)
	w.begin(whentest.Seen(3, 11), 4)
	if x := w.open(); len(w.lacks) != 1 || x == nil || x.From != whentest.Seen(2, 10) || x.Pods != 3 {
		t.Fatalf("%+v", w.lacks)
	}
	w.end(whentest.Seen(4, 14.9))
	if len(w.lacks) != 0 || w.open() != nil {
		t.Errorf("one of less than 5 s is kept: %+v", w.lacks)
	}
	w.begin(whentest.Seen(5, 20), 1)
	w.end(whentest.Seen(6, 25))
	if len(w.lacks) != 1 || w.open() != nil || w.lacks[0].Until != whentest.Seen(6, 25) {
		t.Errorf("one of 5 s: %+v", w.lacks)
	}
	w.begin(whentest.Seen(7, 30), 1)
	if len(w.lacks) != 2 {
		t.Errorf("the next: %+v", w.lacks)
	}
}

// TestTheEndThatOurRulesWouldGive is the newest one, with the message with which it was reached, and with the record
// behind which it was reached first.
func TestTheEndThatOurRulesWouldGive(t *testing.T) {
	c := &Case{}
	for _, row := range []struct {
		reason string // of the decision behind the record; empty if it ends nothing
		at     events.Sequence
		want   string
	}{
		{"", 1, "none"}, {"A", 2, "A of 2 by 2"}, {"A", 3, "A of 2 by 2"}, {"", 4, "A of 2 by 2"}, {"B", 5, "B of 5 by 5"},
		{"A", 6, "A of 6 by 2"}, {"", 7, "A of 6 by 2"}, {"B", 8, "B of 8 by 5"},
	} {
		d := reconciler.Decision{Decision: events.Decision{Steps: []events.Step{{Rule: "rule"}}}}
		if row.reason != "" {
			w := &events.WriteStatus{}
			w.Change.Conditions = []events.JobCondition{{Type: "Failed", Status: "True", Reason: row.reason,
				Message: fmt.Sprint(row.at)}}
			d.Steps[0].Commands = []events.Command{w}
		}
		c.wouldSettle(&d, whentest.Seen(row.at, float64(row.at)))
		got := "none"
		if s := c.spare; s != nil {
			got = fmt.Sprintf("%s of %s by %d", s.Reason, s.Message, s.Evidence.Record)
		}
		if got != row.want {
			t.Errorf("behind record %d: %s, want %s", row.at, got, row.want)
		}
	}
}

// TestHowManyPodsAreMissing compares with what the Job wants, up to its parallelism and to the completions that it
// still needs. At least one is missing.
func TestHowManyPodsAreMissing(t *testing.T) {
	for _, row := range []struct {
		parallelism            *int32
		completions, succeeded int32
		queue                  bool
		want                   int
	}{
		{nil, 1, 0, false, 1}, {new(int32(3)), 5, 0, false, 3}, {new(int32(3)), 5, 2, false, 3}, {new(int32(3)), 5, 3, false, 2},
		{new(int32(3)), 5, 4, false, 1}, {new(int32(3)), 5, 5, false, 1}, {new(int32(3)), 0, 0, true, 3},
		{new(int32(3)), 1, 0, true, 3}, {new(int32(0)), 5, 0, false, 1},
	} {
		j := &projector.Job{Spec: &events.JobSpec{Parallelism: row.parallelism}}
		j.Completions, j.WorkQueue, j.Base.Succeeded = row.completions, row.queue, row.succeeded
		if got := lacking(j); got != row.want {
			t.Errorf("%+v: %d are missing", row, got)
		}
	}
}

// TestHowLongAnotherControllerMayWait counts the failures: all, or those of the index with the most.
func TestHowLongAnotherControllerMayWait(t *testing.T) {
	settings := events.DefaultSettings()
	settings.PodFailureBackoff, settings.MaxPodFailureBackoff = 10*time.Second, time.Minute
	j := &projector.Job{Settings: &settings}
	j.PerIndex = true
	var w wanting
	if at := w.mayWaitUntil(j); at != 0 {
		t.Errorf("without a failure it waits until %s", at.Go())
	}
	failed := func(record events.Sequence, index int32, ended events.Sequence, exit int32) {
		k := whentest.Exit("main", exit, nil)
		x := &try.Try{Index: index, Phase: events.PodFailed, Ended: whentest.Seen(ended, 1), Containers: []events.ContainerEnd{k}}
		w.failed(x, &events.Record{Header: events.Header{Sequence: record, Time: whentest.Sec(float64(record))}})
	}
	for i, row := range []struct {
		record events.Sequence
		index  int32
		ended  events.Sequence
		until  float64
	}{
		{5, 0, 4, 0}, // the record is not that of its end
		{6, 0, 6, 16}, {7, 1, 7, 17}, {8, 1, 8, 28}, {9, 0, 9, 29}, {10, 2, 10, 30}, {11, 1, 11, 51}, {12, 1, 11, 51},
	} {
		failed(row.record, row.index, row.ended, 1)
		want := events.Time(0)
		if row.until != 0 {
			want = whentest.Sec(row.until)
		}
		if got := w.mayWaitUntil(j); got != want {
			t.Errorf("row %d: until %s, want %s", i+1, got.Go(), want.Go())
		}
	}
}

// lacks lists lacks: "2-5" for one from second 2 to 5, "2-" for one that lasts, "2-5!" for one that the watch ended.
func lacks(all ...*Lack) string {
	var out []string
	sec := func(m explain.Mark) string { return fmt.Sprint(m.At.Sub(whentest.Sec(0)).Seconds()) }
	for _, x := range all {
		text := sec(x.From) + "-"
		if x.Until.Record != 0 {
			text += sec(x.Until)
		}
		if x.Cut {
			text += "!"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// TestALackIsToldOfWhatWasWatched: gaps are cut out of it, and what is left of less than 5 s is not reported.
func TestALackIsToldOfWhatWasWatched(t *testing.T) {
	gap := func(from, until float64) *history.Gap {
		g := &history.Gap{Reason: "relist", Listing: uint64(from), Synced: uint64(until)}
		if from != 0 {
			g.From = whentest.Recorded(from)
		}
		if until != 0 {
			g.Until = whentest.Recorded(until)
		}
		return g
	}
	for _, row := range []struct {
		from, until float64 // of the lack; 0 while it lasts
		gaps        []*history.Gap
		watched     string
		told        string
		now         string // as of second 1000
	}{
		{100, 200, nil, "100-200", "100-200", ""},
		{100, 0, nil, "100-", "100-", "100-"},
		{100, 104, nil, "100-104", "", ""},
		{100, 105, nil, "100-105", "100-105", ""},
		{996, 0, nil, "996-", "", ""},
		{995, 0, nil, "995-", "995-", ""},
		{991, 0, nil, "991-", "991-", ""},
		{990, 0, nil, "990-", "990-", "990-"},
		{100, 200, []*history.Gap{gap(120, 150)}, "100-120! 150-200", "100-120! 150-200", ""},
		{100, 200, []*history.Gap{gap(104, 197)}, "100-104! 197-200", "", ""},
		{100, 200, []*history.Gap{gap(100, 150)}, "150-200", "150-200", ""},
		{100, 200, []*history.Gap{gap(90, 100)}, "100-200", "100-200", ""},
		{100, 200, []*history.Gap{gap(200, 250)}, "100-200", "100-200", ""},
		{100, 200, []*history.Gap{gap(150, 200)}, "100-150!", "100-150!", ""},
		{100, 200, []*history.Gap{gap(150, 0)}, "100-150!", "100-150!", ""},
		{100, 0, []*history.Gap{gap(150, 0)}, "100-150!", "100-150!", ""},
		{100, 0, []*history.Gap{gap(150, 1000)}, "100-150!", "100-150!", ""},
		{100, 0, []*history.Gap{gap(150, 990)}, "100-150! 990-", "100-150! 990-", "990-"},
		{100, 0, []*history.Gap{gap(150, 991)}, "100-150! 991-", "100-150! 991-", ""},
		{100, 200, []*history.Gap{gap(0, 150)}, "100-200", "100-200", ""},
		{100, 200, []*history.Gap{gap(110, 120), gap(130, 140)}, "100-110! 120-130! 140-200", "100-110! 120-130! 140-200", ""},
	} {
		c := &Case{Gaps: row.gaps, Misses: &explain.Misses{}, Added: whentest.Seen(2, 50)}
		c.Job.Created, c.Job.AsOf.Time, c.Job.State = whentest.Recorded(50), whentest.Recorded(1000), history.StateRunning
		x := &Lack{From: whentest.Seen(100, row.from), Pods: 1}
		if row.until != 0 {
			x.Until = whentest.Seen(200, row.until)
		}
		c.Want.lacks = []*Lack{x}
		now := ""
		if x := c.LackNow(); x != nil {
			now = lacks(x)
		}
		if got := lacks(c.watched(x)...); got != row.watched || lacks(c.Lacks()...) != row.told || now != row.now {
			t.Errorf("%v to %v, %s: watched %s, told %s, now %s", row.from, row.until, gapsOf(row.gaps), got,
				lacks(c.Lacks()...), now)
		}
	}
	over := &Case{Misses: &explain.Misses{}}
	over.Job.Namespace, over.Job.AsOf.Time = "ci", whentest.Recorded(1000)
	over.Want.lacks = []*Lack{{From: whentest.Seen(100, 100)}}
	over.Passed.All = []*history.Passed{{Namespace: "ci", From: whentest.Recorded(150), Until: whentest.Recorded(160), Versions: 3}}
	if len(over.Lacks()) != 0 || over.LackNow() != nil {
		t.Error("pods that came without a record are missed")
	}
}

func gapsOf(all []*history.Gap) string {
	var out []string
	for _, g := range all {
		out = append(out, fmt.Sprintf("gap %s-%s", events.Time(g.From).Go(), events.Time(g.Until).Go()))
	}
	return strings.Join(out, ", ")
}
