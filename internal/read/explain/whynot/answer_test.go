package whynot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// minute is the beginning of a minute, in seconds of whentest: a due time of each schedule here.
const minute = 20

// cron is a CronJob that is due at each minute, created in second 0.
func cron(change func(*duetimes.CronJob)) *duetimes.CronJob {
	c := &duetimes.CronJob{Ref: events.JobRef{Namespace: "ns", Name: "report"},
		Seen: &events.CronJobSeen{Schedule: "* * * * *", Created: whentest.Sec(0)}}
	if change != nil {
		change(c)
	}
	return c
}

// said is what an answer says, with times as seconds behind the beginning.
func said(w *WhyNot) string {
	var all []string
	for _, s := range w.Sentences {
		all = append(all, s.Text)
	}
	text := strings.Join(all, " | ")
	for _, layout := range []string{"2006-01-02 15:04:05 UTC", "2006-01-02 15:04:05", "2006-01-02 15:04 UTC",
		"2006-01-02 15:04"} {
		for n := range 400 {
			if at := whentest.Sec(float64(n)).Go(); strings.Contains(layout, ":05") || at.Second() == 0 {
				text = strings.ReplaceAll(text, at.Format(layout), fmt.Sprint("@", n))
			}
		}
	}
	return text
}

// TestWhatBecameOfAnInstant: which of the things that are known of it answers.
func TestWhatBecameOfAnInstant(t *testing.T) {
	started := whentest.Entry(minute, minute, events.TickStarted,
		func(e *duetimes.Entry) { e.Job, e.Name, e.Record = "uid", "report-1", 30 })
	suspended := func(c *duetimes.CronJob) { c.Seen.Suspend = true }
	gone := func(c *duetimes.CronJob) { c.Gone = whentest.Sec(30) }
	const who = "cronjob/report"
	for _, row := range []struct {
		name   string
		at     float64
		v      duetimes.Verdict
		change func(*duetimes.CronJob)
		before *duetimes.CronJob
		due    bool
		want   string
	}{
		{"it started", minute, duetimes.Verdict{Entry: &started}, nil, nil, true,
			"@20 was a due time of " + who + ": started, as report-1"},
		{"it is to come", minute, duetimes.Verdict{Future: true}, nil, nil, true,
			"@20 is a due time of " + who + ` by its schedule "* * * * *", and nothing was decided about it yet`},
		{"it is to come, of a suspended one", minute, duetimes.Verdict{Future: true}, suspended, nil, true,
			"@20 is a due time of " + who + ` by its schedule "* * * * *", but the CronJob is suspended, so nothing starts`},
		{"its records are no longer kept", 50, duetimes.Verdict{}, func(c *duetimes.CronJob) { c.Told = whentest.Sec(50) },
			nil, false,
			"what became of @50 is unknown: the records of then are no longer kept"},
		{"behind those", 51, duetimes.Verdict{}, func(c *duetimes.CronJob) { c.Told = whentest.Sec(50) }, nil, false,
			"@51 is no due time of " + who},
		{"before it was created", -1, duetimes.Verdict{}, nil, nil, false,
			"was no due time of " + who + ": it was created at @0"},
		{"before it was created, and one of before was gone", -1, duetimes.Verdict{}, nil, cron(gone), false,
			"was no due time of " + who + ": there was none of that name: one was deleted, seen at @30, and the next was created at @0"},
		{"before it was created, and one of before has no end", -1, duetimes.Verdict{}, nil, cron(nil), false,
			"was no due time of " + who + ": it was created at @0"},
		{"when it was created", 0, duetimes.Verdict{}, nil, cron(gone), false, "@0 is no due time of " + who},
		{"behind its end", 31, duetimes.Verdict{}, gone, nil, false,
			"@31 was no due time of " + who + ": it was deleted, seen at @30"},
		{"at its end", 30, duetimes.Verdict{}, gone, nil, false,
			"@30 is no due time of " + who + " | no other one is known: the CronJob is deleted"},
		{"no due time", 41, duetimes.Verdict{Before: whentest.Sec(minute).Go(), After: whentest.Sec(80).Go()}, nil, nil,
			false,
			"@41 is no due time of " + who + " | the nearest that are known: @20 and @80"},
		{"no due time, and none follows", 41, duetimes.Verdict{Before: whentest.Sec(minute).Go()}, nil, nil, false,
			"@41 is no due time of " + who + " | the nearest that is known: @20"},
		{"no due time of a suspended one", 41, duetimes.Verdict{}, suspended, nil, false,
			"@41 is no due time of " + who + " | no other one is known: the CronJob is suspended, so nothing starts"},
	} {
		due := cron(row.change)
		w := &WhyNot{Name: "report"}
		w.answer(&fates.Fates{Due: due, Dates: true, Before: row.before}, row.v, whentest.Sec(row.at))
		got := said(w)
		if row.at < 0 {
			_, got, _ = strings.Cut(got, " UTC ")
		}
		if got != row.want || w.Due != row.due {
			t.Errorf("%s: due: %t, %q\nwant %q", row.name, w.Due, got, row.want)
		}
		if n := strings.Count(row.want[max(strings.Index(row.want, "the nearest"), 0):], "@"); strings.Contains(row.want,
			"the nearest") && len(w.Nearest) != n {
			t.Errorf("%s: %d are nearest, want %d", row.name, len(w.Nearest), n)
		}
	}
}

// TestUntilWhenAnOpenDueTimeMayStart: to the next due time, or to the end of its starting deadline, whichever is first.
func TestUntilWhenAnOpenDueTimeMayStart(t *testing.T) {
	const merges = "if it has not started by @80, it merges into that one"
	for _, row := range []struct {
		name     string
		deadline int64 // 0 for none
		change   func(*duetimes.CronJob)
		want     string
	}{
		{"no deadline", 0, nil, merges},
		{"a deadline behind the next one", 61, nil, merges},
		{"a deadline with the next one", 60, nil, merges},
		{"a deadline before the next one", 59, nil, "it may start until @79, when startingDeadlineSeconds 59 is over"},
		{"it is suspended", 59, func(c *duetimes.CronJob) { c.Seen.Suspend = true }, ""},
		{"its schedule is none", 59, func(c *duetimes.CronJob) { c.Seen.Schedule = "nonsense" }, ""},
		{"none follows", 59, func(c *duetimes.CronJob) { c.Seen.Schedule = "0 0 30 2 *" }, ""},
	} {
		due := cron(row.change)
		if row.deadline != 0 {
			due.Seen.Deadline = &row.deadline
		}
		w := &WhyNot{At: whentest.Recorded(minute)}
		w.next(&fates.Fates{Due: due, Dates: true})
		if got := said(w); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// TestOneOfSeveralDueTimes: a record about a range says what became of all of them; of a single one that started it is
// said what held it back. What a merged one became is that of the one that it merged into.
func TestOneOfSeveralDueTimes(t *testing.T) {
	merged := whentest.Entry(minute, minute+60, events.TickMerged,
		func(e *duetimes.Entry) { e.Into, e.Record = whentest.Sec(140), 30 })
	into := whentest.Entry(140, 140, events.TickStarted,
		func(e *duetimes.Entry) { e.Job, e.Name, e.Record = "uid", "report-3", 31 })
	byHand := whentest.Entry(140, 140, events.TickManual,
		func(e *duetimes.Entry) { e.Job, e.Name, e.Record = "hand", "mine", 32 })
	older := whentest.Entry(140, 140, events.TickTooLate, func(e *duetimes.Entry) { e.Record = 29 })
	hold := duetimes.Hold{Due: whentest.Sec(140), By: events.HeldForbid, Record: 28, At: whentest.Sec(141),
		Active: []string{"report-0"}}
	refusal := duetimes.Refusal{Due: whentest.Sec(140), Class: events.RefusedQuota, Says: "full", First: 26,
		From: whentest.Sec(142), Last: 27, Until: whentest.Sec(143)}
	for _, row := range []struct {
		name   string
		entry  *duetimes.Entry
		change func(*duetimes.CronJob)
		due    bool
		want   string
	}{
		{"alone", &into, nil, true, "@140 was a due time of x: started, as report-3"},
		{"held back", &into, func(c *duetimes.CronJob) { c.Holds = []duetimes.Hold{{Due: whentest.Sec(1)}, hold} }, true,
			"@140 was a due time of x: started, as report-3 | from @141 on it was held back: report-0 had not ended, and the policy is Forbid"},
		{"refused", &into, func(c *duetimes.CronJob) { c.Refusals = []duetimes.Refusal{{Due: whentest.Sec(1)}, refusal} },
			true,
			"@140 was a due time of x: started, as report-3 | from @142 to @143 the API server refused its Job (Quota): full"},
		{"by hand", &byHand, nil, false, "@140: no due time of x, but a run: made by hand, as mine"},
		{"a range", &merged, func(c *duetimes.CronJob) { c.Entries = []duetimes.Entry{older, byHand, into} }, true,
			"@140 was a due time of x: merged into @140 | so were the others from @20 to @80 | that one, @140: started, as report-3"},
		{"a range that merged into an open one", &merged, func(c *duetimes.CronJob) {
			c.Ledger = &events.TickLedger{Open: whentest.Sec(140), Hold: events.HeldForbid}
		},
			true, "@140 was a due time of x: merged into @140 | so were the others from @20 to @80" +
				" | that one, @140, has not started yet: held back: a Job of before runs"},
		{"a range that merged into one of which nothing is known", &merged, func(c *duetimes.CronJob) {
			c.Entries, c.Ledger = []duetimes.Entry{older, byHand}, &events.TickLedger{Open: whentest.Sec(200)}
		}, true, "@140 was a due time of x: merged into @140 | so were the others from @20 to @80"},
	} {
		w := &WhyNot{}
		w.told(&fates.Fates{Due: cron(row.change), Dates: true}, &duetimes.Verdict{Entry: row.entry}, whentest.Sec(140), "x")
		w.Due = row.due // told sets it for runs only
		if got := said(w); got != row.want {
			t.Errorf("%s: %q\nwant %q", row.name, got, row.want)
		}
		if w.Tick == nil || w.Tick.Record != uint64(row.entry.Record) {
			t.Errorf("%s: its fate is %+v", row.name, w.Tick)
		}
	}
}

// TestWhatMayBeMissing between an instant and its fate: what was passed over, and versions that were not recorded, up to
// five minutes behind.
func TestWhatMayBeMissing(t *testing.T) {
	const versions = "versions of the CronJob and its Jobs"
	entry := whentest.Entry(minute, minute, events.TickTooLate, func(e *duetimes.Entry) { e.At = whentest.Sec(50) })
	ran := whentest.Entry(minute, minute, events.TickStarted,
		func(e *duetimes.Entry) { e.At, e.Job = whentest.Sec(50), "uid" })
	untold := whentest.Entry(minute, minute, 0, func(e *duetimes.Entry) { e.Record = 0 })
	for _, row := range []struct {
		name string
		v    duetimes.Verdict
		at   float64 // of the record that counts them
		n    uint64
		gone bool // a Job may have come and gone
	}{
		{"between", duetimes.Verdict{Entry: &entry}, 45, 2, true}, {"at the instant", duetimes.Verdict{Entry: &entry},
			minute, 2, true},
		{"before", duetimes.Verdict{Entry: &entry}, minute - 0.1, 0, false}, {"5 min behind",
			duetimes.Verdict{Entry: &entry}, 350, 2, true},
		{"more behind", duetimes.Verdict{Entry: &entry}, 350.1, 0, false}, {"it has a Job", duetimes.Verdict{Entry: &ran},
			45, 2, false},
		{"it has no fate so far", duetimes.Verdict{Entry: &untold}, 9999, 2, true}, {"it is open",
			duetimes.Verdict{Open: true, After: whentest.Sec(50).Go()}, 9999, 2, true},
		{"no due time, to the next", duetimes.Verdict{After: whentest.Sec(50).Go()}, 350, 2,
			true}, {"no due time, behind that", duetimes.Verdict{After: whentest.Sec(50).Go()}, 351, 0, false},
		{"no due time, and none follows", duetimes.Verdict{}, 9999, 2, true},
		{"it is to come", duetimes.Verdict{Future: true}, 45, 0, false}, {"it is over",
			duetimes.Verdict{Future: true, Passed: true}, 45, 2, true},
	} {
		w := &WhyNot{Namespace: "ns"}
		due := cron(func(c *duetimes.CronJob) {
			c.Unrecorded = []duetimes.Unrecorded{{Versions: 2, Record: 33, At: whentest.Sec(row.at)}}
		})
		w.missing(&fates.Fates{Due: due, Dates: true}, &history.PassedOver{}, &row.v, whentest.Sec(minute))
		text := said(w)
		if w.Unrecorded != row.n || strings.Contains(text, versions) != (row.n > 0) ||
			strings.Contains(text, "come and gone") != row.gone {
			t.Errorf("%s: %d, %q", row.name, w.Unrecorded, text)
		}
	}
}
