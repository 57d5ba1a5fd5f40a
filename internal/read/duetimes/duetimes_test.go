package duetimes

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

var nightly = events.CronJobStream("uid-nightly")

// told is what a log of these facts tells of batch/nightly, each a batch of its own.
func told(t *testing.T, facts ...events.Facts) *CronJob {
	t.Helper()
	c, err := Read(t.Context(), history.Local{Log: logOf(t, facts...)}, nightly)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// logOf is a log of these facts of batch/nightly, each a batch of its own, from record 2 on.
func logOf(t *testing.T, facts ...events.Facts) *memlog.Log {
	t.Helper()
	return logAt(t, nil, facts...)
}

// logAt is logOf with the times of day of the records, as far as they are given; else it is 08:00.
func logAt(t *testing.T, clocks []string, facts ...events.Facts) *memlog.Log {
	t.Helper()
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1})
	last := map[events.Stream]events.Sequence{}
	add := func(s events.Stream, kind events.Kind, f events.Facts) {
		n, at := log.Head().Sequence+1, moment("08:00")
		if 1 < n && int(n) < len(clocks)+2 {
			at = moment(clocks[n-2])
		}
		c := log.Append(events.Batch{Records: []events.Record{{
			Header: events.Header{Sequence: n, Time: events.At(at), Stream: s, Previous: last[s], Kind: kind, Critical: kind.Critical(), Last: true},
			Facts:  f, Evidence: events.Evidence{Namespace: "batch", Name: "nightly"}, FactsSalt: events.Salt{1}, EvidenceSalt: events.Salt{2},
		}}}, true)
		<-c.Done()
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		last[s] = n
	}
	add(events.Controller, events.KindLogCreated, &events.LogCreated{LogID: "0f0f", Epoch: 1, Format: events.Format})
	for _, f := range facts {
		kind := events.KindDecided
		switch f.(type) {
		case *events.CronJobSeen:
			kind = events.KindCronJobChanged
		case *events.CronJobGone:
			kind = events.KindCronJobDeleted
		case *events.ZoneRules:
			kind = events.KindZoneStored
		case *events.RunSeen:
			kind = events.KindRunSeen
		case *events.StoredState:
			kind = events.KindStateStored
		}
		add(nightly, kind, f)
	}
	return log
}

// moment is a time of day of 2 March 2026.
func moment(clock string) time.Time {
	t, err := time.Parse("2006-01-02 15:04", "2026-03-02 "+clock)
	if err != nil {
		panic(err)
	}
	return t
}

func decided(l *events.TickLedger, ticks ...events.Tick) *events.Decision {
	return &events.Decision{Steps: []events.Step{{Cron: &events.CronStep{Ticks: ticks, Ledger: l}}}}
}

func hourly(through string) *events.TickLedger {
	return &events.TickLedger{Through: events.At(moment(through)), Schedule: "0 * * * *"}
}

// TestEveryInstantHasAnAnswer: a due time with its fate, one within a range, the open one, one to come, and what is
// none with its neighbours.
func TestEveryInstantHasAnAnswer(t *testing.T) {
	open := hourly("06:00")
	open.Open, open.Hold = events.At(moment("07:00")), events.HeldForbid
	c := told(t, &events.CronJobSeen{Schedule: "30 * * * *", Active: []events.RunName{{Name: "running"}}},
		decided(hourly("01:00")),
		decided(open, events.Tick{First: events.At(moment("02:00")), Last: events.At(moment("06:00")), Fate: events.TickUnwatched}),
	)
	if n, ok := c.Count(&c.Entries[0]); n != 5 || !ok {
		t.Errorf("the range has %d times, %t", n, ok)
	}
	if len(c.Holds) != 1 || c.Holds[0].Active[0] != "running" {
		t.Errorf("held back: %+v", c.Holds)
	}
	for _, row := range []struct {
		clock         string
		entry, open   bool
		future        bool
		before, after string
	}{
		{clock: "02:00", entry: true}, {clock: "04:00", entry: true}, {clock: "06:00", entry: true},
		{clock: "07:00", open: true}, {clock: "08:30", future: true},
		{clock: "04:30", before: "04:00", after: "05:00"}, {clock: "06:20", before: "06:00", after: "06:30"},
		{clock: "00:00", after: "00:30"},
	} {
		v := c.At(moment(row.clock))
		if (v.Entry != nil) != row.entry || v.Open != row.open || v.Future != row.future {
			t.Errorf("%s: %+v", row.clock, v)
		}
		for text, got := range map[string]time.Time{row.before: v.Before, row.after: v.After} {
			if !v.Due() && text != "" && !got.Equal(moment(text)) {
				t.Errorf("%s: the nearest are %s and %s, want %q and %q", row.clock, v.Before, v.After, row.before, row.after)
			}
		}
	}
}

// TestPassedAndNotLookedAt: due times that are over and have no fate yet say what holds them back: the policy, or the
// Job of their minute.
func TestPassedAndNotLookedAt(t *testing.T) {
	at := func(clock string) events.Time {
		at, err := time.Parse(time.DateTime, "2026-03-02 "+clock)
		if err != nil {
			t.Fatal(err)
		}
		return events.At(at)
	}
	ledger := func(through, open string, hold events.TickHold) *events.TickLedger {
		l := &events.TickLedger{Through: at(through), Schedule: "@every 5s", Hold: hold}
		if open != "" {
			l.Open = at(open)
		}
		return l
	}
	run := events.Tick{First: at("07:59:05"), Last: at("07:59:05"), Fate: events.TickStarted, Job: "uid-run", Name: "nightly-29540639"}
	seen := &events.CronJobSeen{Schedule: "@every 5s"}
	for _, row := range []struct {
		sentence string
		ledger   *events.TickLedger
		clock    string
		passed   bool
		hold     events.TickHold
		named    bool
	}{
		{"held back like the open one", ledger("07:59:05", "07:59:20", events.HeldForbid), "07:59:25", true, events.HeldForbid, true},
		{"it is now", ledger("07:59:05", "07:59:20", events.HeldForbid), "08:00:00", true, events.HeldForbid, false},
		{"a Job of its minute has its name", ledger("07:59:05", "", events.NotHeld), "07:59:10", true, events.NotHeld, true},
		{"it is no due time", ledger("07:59:05", "07:59:20", events.HeldForbid), "07:59:26", false, events.NotHeld, false},
		{"the open one itself", ledger("07:59:05", "07:59:20", events.HeldForbid), "07:59:20", false, events.HeldForbid, false},
		{"it is to come", ledger("07:59:05", "07:59:20", events.HeldForbid), "08:00:05", false, events.NotHeld, false},
	} {
		c := told(t, seen, decided(row.ledger, run))
		v := c.At(at(row.clock).Go())
		if v.Passed != row.passed || v.Hold != row.hold || (v.Run != nil) != row.named || v.Passed && !v.Future {
			t.Errorf("%s: %+v", row.sentence, v)
		}
	}
}

// TestTheRulesAreThoseOfTheLog: a zone whose rules this program's database does not have, or has otherwise, is read
// from the log.
func TestTheRulesAreThoseOfTheLog(t *testing.T) {
	// Six and a half hours ahead of UTC, always: a TZif file of version 1.
	tzif := append([]byte("TZif"), make([]byte, 16)...)
	for _, n := range []byte{0, 0, 0, 0, 1, 4} { // counts: UT, standard, leap, transitions, types, characters
		tzif = append(tzif, 0, 0, 0, n)
	}
	tzif = append(tzif, 0, 0, 0x5b, 0x68, 0, 0) // 23400 s, no daylight saving, name at 0
	tzif = append(tzif, "MMT\x00"...)
	c := told(t,
		&events.ZoneRules{Name: "Europe/Zurich", Hash: "other", TZif: tzif},
		&events.CronJobSeen{Schedule: "0 0 * * *", TimeZone: new("Europe/Zurich"), Zones: []events.ZoneName{{Name: "Europe/Zurich", Hash: "other"}}},
	)
	due, zone, err := c.Next(moment("00:00"), 2)
	if err != nil || len(due) != 2 || !due[0].Equal(moment("17:30")) || !due[1].Equal(moment("17:30").AddDate(0, 0, 1)) {
		t.Errorf("due %v in %v, %v", due, zone, err)
	}
	if _, offset := due[0].In(zone).Zone(); offset != 23400 {
		t.Errorf("the zone is %d s ahead", offset)
	}
}

// TestNextOfEvery: @every counts from the newest due time, else from the creation (C-033).
func TestNextOfEvery(t *testing.T) {
	seen := &events.CronJobSeen{Schedule: "@every 20m", Created: events.At(moment("08:07"))}
	due, _, err := told(t, seen).Next(moment("10:00"), 2)
	if err != nil || !due[0].Equal(moment("10:07")) || !due[1].Equal(moment("10:27")) {
		t.Errorf("due %v, %v", due, err)
	}
	seen.LastSchedule = events.At(moment("09:55"))
	if due, _, err := told(t, seen).Next(moment("10:00"), 1); err != nil || !due[0].Equal(moment("10:15")) {
		t.Errorf("due %v, %v", due, err)
	}
}

// TestWhatCannotBeTold: no object, no zone, a schedule that cannot be read.
func TestWhatCannotBeTold(t *testing.T) {
	if _, _, err := told(t, decided(hourly("01:00"))).Next(moment("01:00"), 1); !errors.Is(err, ErrUnseen) {
		t.Errorf("without its object: %v", err)
	}
	for _, seen := range []*events.CronJobSeen{
		{Schedule: "@daily", TimeZone: new("Moon/Tycho")}, {Schedule: "often"},
	} {
		c := told(t, seen, &events.CronJobGone{})
		if due, _, err := c.Next(moment("01:00"), 1); err == nil {
			t.Errorf("%+v is due at %v", seen, due)
		}
		if v := c.At(moment("01:00")); v.Due() || c.Gone == 0 {
			t.Errorf("%+v: %+v", seen, v)
		}
	}
}

// TestARangeOfEvery: the due times of a range of @every count from its first one.
func TestARangeOfEvery(t *testing.T) {
	every := &events.TickLedger{Through: events.At(moment("01:00")), Schedule: "@every 37m"}
	c := told(t, &events.CronJobSeen{Schedule: "@every 37m", Created: events.At(moment("01:00"))}, decided(every,
		events.Tick{First: events.At(moment("01:37")), Last: events.At(moment("02:51")), Fate: events.TickUnwatched}))
	if n, ok := c.Count(&c.Entries[0]); n != 3 || !ok {
		t.Errorf("the range has %d due times, want 3", n)
	}
	for clock, is := range map[string]bool{"01:37": true, "02:14": true, "02:51": true, "02:00": false} {
		if v := c.At(moment(clock)); (v.Entry != nil) != is {
			t.Errorf("%s is one of them: %t", clock, v.Entry != nil)
		}
	}
	if v := c.At(moment("02:00")); !v.Before.Equal(moment("01:37")) || !v.After.Equal(moment("02:14")) {
		t.Errorf("the nearest to 02:00 are %s and %s", v.Before, v.After)
	}
}

// TestWhatHoldsBackIsNamed: the list of active Jobs is seen before or after the decision that another one waits for
// them.
func TestWhatHoldsBackIsNamed(t *testing.T) {
	open := hourly("06:00")
	open.Open, open.Hold = events.At(moment("07:00")), events.HeldForbid
	object := &events.CronJobSeen{Schedule: "0 * * * *", Policy: "Forbid"}
	listing := func(uid, name string) *events.CronJobSeen {
		seen := *object
		seen.Active = []events.RunName{{UID: types.UID(uid), Name: name}}
		return &seen
	}
	run := func(uid, name string, result events.JobResult) *events.RunSeen {
		return &events.RunSeen{Job: types.UID(uid), Name: name, Result: result}
	}
	for _, row := range []struct {
		name  string
		facts []events.Facts
		want  string
	}{
		{"in the list", []events.Facts{listing("a", "job-a")}, "job-a"},
		{"seen to run, and not in the list that is known", []events.Facts{object, run("a", "job-a", events.ResultNone)}, "job-a"},
		{"the list names one that has ended", []events.Facts{
			listing("a", "job-a"), run("a", "job-a", events.ResultComplete), run("b", "job-b", events.ResultNone),
		}, "job-b"},
		{"in the list, and seen to run", []events.Facts{listing("a", "job-a"), run("a", "job-a", events.ResultNone)}, "job-a"},
		{"nothing is known", []events.Facts{object}, ""},
	} {
		c := told(t, append(row.facts, decided(open))...)
		if got := strings.Join(c.Holds[0].Active, " "); got != row.want {
			t.Errorf("%s: %q holds it back, want %q", row.name, got, row.want)
		}
	}
}

// TestAHoldIsToldOnce: the API server refuses a Job again and again, and each try is a decision. The due time is held
// back since the first.
func TestAHoldIsToldOnce(t *testing.T) {
	held := func(due string, by events.TickHold) *events.Decision {
		l := hourly("06:00")
		l.Open, l.Hold = events.At(moment(due)), by
		return decided(l)
	}
	c := told(t, &events.CronJobSeen{Schedule: "0 * * * *"},
		held("07:00", events.HeldForbid), held("07:00", events.HeldNoCreate), held("07:00", events.HeldNoCreate), held("07:00", events.HeldNoCreate),
		held("08:00", events.HeldNoCreate), held("08:00", events.HeldForbid), held("08:00", events.HeldNoCreate))
	var got []string
	for _, h := range c.Holds {
		got = append(got, fmt.Sprintf("%s %s #%d", h.Due.Go().Format("15:04"), h.By, h.Record))
	}
	const want = "07:00 Forbid #3, 07:00 Refused #4, 08:00 Refused #7, 08:00 Forbid #8, 08:00 Refused #9"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("held back: %s, want %s", text, want)
	}
}

// TestEveryCountsFromTheRunBefore: of an @every that another controller runs, due times of which no record tells yet
// count from the run that was started last before them: neither from the edit, nor from one that was started later
// (C-033).
func TestEveryCountsFromTheRunBefore(t *testing.T) {
	at := func(clock string) events.Time { return events.At(moment(clock)) }
	by := func(schedule string) events.TickLedger { return events.TickLedger{Schedule: schedule} }
	c := &CronJob{
		Seen: &events.CronJobSeen{Schedule: "@every 10m", Created: at("00:30"), LastSchedule: at("03:17")}, Elsewhere: true, now: at("03:50"),
		Ledger:  &events.TickLedger{Through: at("01:00"), Schedule: "0 * * * *"},
		timings: []timing{{by: by("0 * * * *"), from: at("00:30")}, {by: by("@every 7m"), from: at("02:03")}, {by: by("@every 10m"), from: at("03:20")}},
		seenRuns: []events.RunSeen{
			{Job: "a", Name: "nightly-a", Due: at("02:00")}, {Job: "b", Name: "nightly-b", Due: at("02:14")}, {Job: "c", Name: "nightly-c", Due: at("03:17")},
		},
	}
	c.kept.since = at("01:00")
	var got []string
	for _, e := range c.Untold() {
		got = append(got, fmt.Sprintf("%s-%s %d", e.First.Go().Format("15:04"), e.Last.Go().Format("15:04"), e.Fate))
	}
	want := fmt.Sprintf("02:00-02:00 %[1]d 02:07-02:07 %[2]d 02:14-02:14 %[1]d 02:21-03:10 %[2]d 03:17-03:17 %[1]d 03:27-03:47 0", events.TickStarted, events.TickSkipped)
	if strings.Join(got, " ") != want {
		t.Errorf("they are %s\nwant     %s", strings.Join(got, " "), want)
	}
}
