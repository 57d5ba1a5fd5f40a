package fates

import (
	"fmt"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// TestWhatKeptACronJobFromStarting: Jobs of before, each once; Jobs of status.active whose end no record tells, at most
// three; and each time in which it was suspended, with who did that.
func TestWhatKeptACronJobFromStarting(t *testing.T) {
	place := func(n events.Sequence) duetimes.Place { return duetimes.Place{Record: n, At: whentest.Sec(float64(n))} }
	job := func(name string, unseen bool) duetimes.Kept {
		return duetimes.Kept{By: events.HeldForbid, Job: name, Unseen: unseen, First: place(3)}
	}
	suspended := func(until float64, by events.Sequence) duetimes.Kept {
		k := duetimes.Kept{By: events.HeldSuspended, From: whentest.Sec(float64(by)), First: place(by)}
		if until != 0 {
			k.Until, k.Last = whentest.Sec(until), place(9)
		}
		return k
	}
	f := &Fates{Due: &duetimes.CronJob{Changes: []duetimes.Change{{Record: 4, By: &events.Edit{Manager: "helm"}}}}}
	at := func(n float64) string { return f.Seen(whentest.Sec(n)) }
	for _, row := range []struct {
		all  []duetimes.Kept
		want string
		from string
	}{
		{nil, "", "[]"},
		{[]duetimes.Kept{job("a", false)}, "a had not ended, and the policy is Forbid", "[3]"},
		{[]duetimes.Kept{job("a", false), job("b", false), job("a", false)}, "a, b had not ended, and the policy is Forbid",
			"[3 3 3]"},
		{[]duetimes.Kept{job("a", true), job("a", true)},
			"status.active had a, whose end no record tells, and the policy is Forbid", "[3 3]"},
		{[]duetimes.Kept{job("a", true), job("b", true), job("c", true), job("d", true)},
			"status.active had a, b, c, whose end no record tells, and the policy is Forbid", "[3 3 3 3]"},
		{[]duetimes.Kept{job("b", true), job("a", false)},
			"a had not ended, and the policy is Forbid; status.active had b, whose end no record tells, and the policy is Forbid", "[3 3]"},
		{[]duetimes.Kept{suspended(0, 5)}, "the CronJob was suspended from " + at(5) + " on", "[5]"},
		{[]duetimes.Kept{suspended(9, 4)}, "the CronJob was suspended from " + at(4) + " (field manager helm) to " + at(9),
			"[4 9]"},
		{[]duetimes.Kept{job("a", false), suspended(9, 5), suspended(0, 4)},
			"the CronJob was suspended from " + at(5) + " to " + at(9) +
				"; the CronJob was suspended from " + at(4) + " (field manager helm) on; a had not ended, and the policy is Forbid", "[3 5 9 4]"},
	} {
		why, from := f.KeptText(row.all)
		records := []events.Sequence{}
		for _, m := range from {
			records = append(records, m.Record)
		}
		if why != row.want || fmt.Sprint(records) != row.from {
			t.Errorf("%q by %v, want %q by %s", why, records, row.want, row.from)
		}
	}
}

// TestWhyInAList: what kept a due time from starting, or from starting in time, as far as records prove it; nothing of
// runs that somebody asked for.
func TestWhyInAList(t *testing.T) {
	hold := duetimes.Hold{Due: whentest.Sec(60), By: events.HeldForbid, Record: 4, At: whentest.Sec(60),
		Active: []string{"a"}}
	gap := []*history.Gap{{From: whentest.Recorded(50), Until: whentest.Recorded(70), Reason: "relist", Listing: 8,
		Synced: 9}}
	deadline := int64(5)
	seen := &events.CronJobSeen{Deadline: &deadline}
	const held, lost = "a had not ended, and the policy is Forbid", "the watch was lost"
	started := func(late time.Duration) func(*duetimes.Entry) {
		return func(e *duetimes.Entry) { e.Late, e.Job = late, "uid" }
	}
	for _, row := range []struct {
		name string
		due  duetimes.CronJob
		e    duetimes.Entry
		gaps []*history.Gap
		want string
	}{
		{"started in time", duetimes.CronJob{Holds: []duetimes.Hold{hold}},
			whentest.Entry(60, 60, events.TickStarted, started(LateStart-1)), nil, ""},
		{"started late", duetimes.CronJob{Holds: []duetimes.Hold{hold}},
			whentest.Entry(60, 60, events.TickStarted, started(LateStart)), nil, held},
		{"started late, and nothing proves why", duetimes.CronJob{},
			whentest.Entry(60, 60, events.TickStarted, started(LateStart)), nil, ""},
		{"merged", duetimes.CronJob{Holds: []duetimes.Hold{hold}}, whentest.Entry(60, 60, events.TickMerged, nil), nil, held},
		{"merged, asked for", duetimes.CronJob{Holds: []duetimes.Hold{hold}},
			whentest.Entry(60, 60, events.TickMerged, func(e *duetimes.Entry) { e.By = "anna" }), nil, ""},
		{"by hand", duetimes.CronJob{Holds: []duetimes.Hold{hold}}, whentest.Entry(60, 60, events.TickManual, nil), nil, ""},
		{"again", duetimes.CronJob{Holds: []duetimes.Hold{hold}}, whentest.Entry(60, 60, events.TickAgain, nil), nil, ""},
		{"without a fate", duetimes.CronJob{Holds: []duetimes.Hold{hold}}, whentest.Entry(60, 60, 0, nil), nil, ""},
		{"unwatched", duetimes.CronJob{}, whentest.Entry(60, 60, events.TickUnwatched, nil), gap, lost},
		{"unknown", duetimes.CronJob{}, whentest.Entry(60, 60, events.TickUnknown, nil), gap, lost},
		{"unknown beside a gap", duetimes.CronJob{}, whentest.Entry(90, 90, events.TickUnknown, nil), gap, ""},
		{"too late", duetimes.CronJob{Seen: seen}, whentest.Entry(60, 60, events.TickTooLate, nil), nil,
			"startingDeadlineSeconds is 5"},
		{"too late, and held back", duetimes.CronJob{Seen: seen, Holds: []duetimes.Hold{hold}},
			whentest.Entry(60, 60, events.TickTooLate, nil), nil,
			"startingDeadlineSeconds is 5; " + held},
		{"too late without a deadline", duetimes.CronJob{Holds: []duetimes.Hold{hold}},
			whentest.Entry(60, 60, events.TickTooLate, nil), nil, held},
		{"merged, with a deadline", duetimes.CronJob{Seen: seen, Holds: []duetimes.Hold{hold}},
			whentest.Entry(60, 60, events.TickMerged, nil), nil, held},
	} {
		if got := TickWhy(&row.due, &row.e, row.gaps, words.Zone{}); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
