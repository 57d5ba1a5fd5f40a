package fates

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// TestDueTimesInTheirZone: in the zone of the schedule and in UTC, with the day of both where it differs, and in the
// zone that is asked for.
func TestDueTimesInTheirZone(t *testing.T) {
	at := events.At(time.Date(2026, 3, 2, 13, 30, 0, 0, time.UTC))
	odd := events.At(time.Date(2026, 3, 2, 13, 30, 5, 0, time.UTC))
	east, far := time.FixedZone("East", 3600), time.FixedZone("Far", 14*3600)
	for _, row := range []struct {
		f                           Fates
		at, in, short, seen, second string
	}{
		{Fates{}, "2 Mar 13:30 UTC", "2 Mar 13:30 UTC", "2 Mar 13:30", "2 Mar 13:30:00", "2 Mar 13:30:05 UTC"},
		{Fates{Dates: true}, "2026-03-02 13:30 UTC", "2026-03-02 13:30 UTC", "2026-03-02 13:30", "2026-03-02 13:30:00",
			"2026-03-02 13:30:05 UTC"},
		{Fates{Location: east}, "2 Mar 14:30 East (13:30 UTC)", "2 Mar 14:30 East", "2 Mar 14:30", "2 Mar 13:30:00",
			"2 Mar 14:30:05 East (13:30:05 UTC)"},
		{Fates{Location: far}, "3 Mar 03:30 Far (2 Mar 13:30 UTC)", "3 Mar 03:30 Far", "3 Mar 03:30", "2 Mar 13:30:00",
			"3 Mar 03:30:05 Far (2 Mar 13:30:05 UTC)"},
		{Fates{Location: far, Zone: words.Zone{Location: east}}, "2 Mar 14:30 zone +01:00", "2 Mar 14:30 zone +01:00",
			"2 Mar 14:30", "2 Mar 14:30:00", "2 Mar 14:30:05 zone +01:00"},
	} {
		f := &row.f
		whentest.Texts(t, [][2]string{{f.At(at), row.at}, {f.InZone(at), row.in}, {f.Short(at), row.short}, {f.Seen(at),
			row.seen}, {f.At(odd), row.second}})
	}
	if got := (&Fates{}).Seen(0); got != "an unknown time" {
		t.Errorf("no time is %q", got)
	}
}

// TestHowTheSpecWasAtATime: by the changes around it, and by the newest where there was none.
func TestHowTheSpecWasAtATime(t *testing.T) {
	spec := func(suspend bool, deadline int64) *events.CronJobSeen {
		return &events.CronJobSeen{Suspend: suspend, Deadline: &deadline}
	}
	f := &Fates{Due: &duetimes.CronJob{
		Seen: spec(false, 3),
		Changes: []duetimes.Change{
			{Before: spec(false, 1), After: spec(true, 1), Record: 10, At: whentest.Sec(10)},
			{Before: spec(true, 1), After: spec(true, 2), Record: 20, At: whentest.Sec(20)},
			{Before: spec(true, 2), After: spec(false, 3), Record: 30, At: whentest.Sec(30)},
		},
	}}
	for _, row := range []struct {
		n        float64
		is       bool
		by       events.Sequence
		deadline int64
	}{{9, false, 0, 1}, {10, true, 10, 1}, {15, true, 10, 1}, {20, true, 10, 2}, {29, true, 10, 2}, {30, false, 30, 3},
		{40, false, 30, 3}} {
		is, by := f.SuspendedAt(whentest.Sec(row.n))
		record := events.Sequence(0)
		if by != nil {
			record = by.Record
		}
		if d := f.deadlineAt(whentest.Sec(row.n)); is != row.is || record != row.by || d == nil || *d != row.deadline {
			t.Errorf("%+v: suspended: %t, by %d, deadline %v", row, is, record, d)
		}
	}
	never := &Fates{Due: &duetimes.CronJob{Seen: spec(true, 7)}}
	if is, by := never.SuspendedAt(whentest.Sec(1)); !is || by != nil || *never.deadlineAt(whentest.Sec(1)) != 7 {
		t.Errorf("as it always was: %t, %v", is, by)
	}
	unseen := &Fates{Due: &duetimes.CronJob{}}
	if is, _ := unseen.SuspendedAt(whentest.Sec(1)); is || unseen.deadlineAt(whentest.Sec(1)) != nil {
		t.Error("one that was not seen is suspended")
	}
}

// TestWhatBecameOfDueTimes: of those that are ours to start, by their fates and what held them back.
func TestWhatBecameOfDueTimes(t *testing.T) {
	quota := duetimes.Refusal{Due: whentest.Sec(60), Class: events.RefusedQuota, Says: "no room", First: 5,
		From: whentest.Sec(61), Last: 6, Until: whentest.Sec(62)}
	taken := duetimes.Refusal{Due: whentest.Sec(60), Class: events.RefusedNameTaken, Says: "exists", First: 5,
		From: whentest.Sec(61), Last: 6, Until: whentest.Sec(62)}
	forbid := duetimes.Hold{Due: whentest.Sec(60), By: events.HeldForbid, Record: 4, At: whentest.Sec(60),
		Active: []string{"a", "b", "c", "d"}}
	refused := duetimes.Hold{Due: whentest.Sec(60), By: events.HeldNoCreate, Record: 4, At: whentest.Sec(60)}
	edit := duetimes.Change{
		Before: &events.CronJobSeen{Schedule: "a"}, After: &events.CronJobSeen{Schedule: "b"}, Record: 8,
		At: whentest.Sec(61), By: &events.Edit{Manager: "helm"},
	}
	suspend := duetimes.Change{Before: &events.CronJobSeen{}, After: &events.CronJobSeen{Suspend: true}, Record: 3,
		At: whentest.Sec(50)}
	d := int64(5)
	for _, row := range []struct {
		name string
		due  duetimes.CronJob
		e    duetimes.Entry
		want string
		from string
	}{
		{"started", duetimes.CronJob{}, whentest.Entry(60, 60, events.TickStarted, nil), "started", "[9]"},
		{"started late", duetimes.CronJob{}, whentest.Entry(60, 60, events.TickStarted, func(e *duetimes.Entry) {
			e.Name,
				e.Late, e.Seen = "j", 3*time.Second, 4*time.Second
		}),
			"started, as j, 3s late, seen 4s after it was due", "[9]"},
		{"started again", duetimes.CronJob{}, whentest.Entry(60, 60, events.TickAgain, nil),
			"started, though it had its fate before", "[9]"},
		{"by hand", duetimes.CronJob{}, whentest.Entry(60, 60, events.TickManual,
			func(e *duetimes.Entry) { e.By = "kubectl" }), "made by hand by kubectl", "[9]"},
		{"by hand of nobody known", duetimes.CronJob{}, whentest.Entry(60, 60, events.TickManual, nil), "made by hand",
			"[9]"},
		{"merged", duetimes.CronJob{Holds: []duetimes.Hold{forbid}}, whentest.Entry(60, 60, events.TickMerged,
			func(e *duetimes.Entry) { e.Into = whentest.Sec(120) }),
			"merged into " + (&Fates{}).At(whentest.Sec(120)) + ": a, b, c had not ended, and the policy is Forbid", "[4 9]"},
		{"several merged", duetimes.CronJob{Holds: []duetimes.Hold{forbid}}, whentest.Entry(60, 61, events.TickMerged,
			func(e *duetimes.Entry) { e.Into = whentest.Sec(120) }),
			"merged into " + (&Fates{}).At(whentest.Sec(120)), "[9]"},
		{"too late", duetimes.CronJob{Seen: &events.CronJobSeen{Deadline: &d}}, whentest.Entry(60, 60, events.TickTooLate,
			nil), "too late: startingDeadlineSeconds is 5", "[9]"},
		{"too late without a deadline", duetimes.CronJob{}, whentest.Entry(60, 60, events.TickTooLate, nil), "too late",
			"[9]"},
		{"too late, suspended", duetimes.CronJob{Seen: suspend.After, Changes: []duetimes.Change{suspend}}, whentest.Entry(60,
			60, events.TickTooLate, nil),
			"too late: the CronJob was suspended at " + (&Fates{}).Seen(whentest.Sec(50)), "[3 9]"},
		{"too late, suspended from the beginning", duetimes.CronJob{Seen: &events.CronJobSeen{Suspend: true}},
			whentest.Entry(60, 60, events.TickTooLate, nil),
			"too late: the CronJob was suspended", "[9]"},
		{"too late, refused", duetimes.CronJob{Holds: []duetimes.Hold{refused}, Refusals: []duetimes.Refusal{quota}},
			whentest.Entry(60, 60, events.TickTooLate, nil),
			"too late: the API server refused its Job (Quota): no room", "[5 6 9]"},
		{"several, one of them refused", duetimes.CronJob{Refusals: []duetimes.Refusal{quota}}, whentest.Entry(50, 70,
			events.TickTooLate, nil), "too late: the API server refused its Job (Quota): no room", "[5 6 9]"},
		{"another one was refused", duetimes.CronJob{Refusals: []duetimes.Refusal{quota}}, whentest.Entry(61, 70,
			events.TickTooLate, nil), "too late", "[9]"},
		{"refused, and no words are kept", duetimes.CronJob{Holds: []duetimes.Hold{refused}}, whentest.Entry(60, 60,
			events.TickTooLate, nil), "too late: the API server refused its Job", "[4 9]"},
		{"refused twice in the same words", duetimes.CronJob{Refusals: []duetimes.Refusal{quota, quota}}, whentest.Entry(60,
			60, events.TickRefused, nil),
			"it never started: the API server refused its Job (Quota): no room", "[5 6 9]"},
		{"its name is taken", duetimes.CronJob{}, whentest.Entry(60, 60, events.TickRefused, nil),
			"it never started: another object has the name of its Job", "[9]"},
		{"its name is taken by a Job of that minute", duetimes.CronJob{Refusals: []duetimes.Refusal{taken}},
			whentest.Entry(60, 60, events.TickRefused, func(e *duetimes.Entry) { e.Name = "j" }),
			"it never started: j has the name of its Job, and was made for another due time of that minute", "[9]"},
		{"its name is taken, and it was held back", duetimes.CronJob{Holds: []duetimes.Hold{forbid}}, whentest.Entry(60, 60,
			events.TickRefused, func(e *duetimes.Entry) { e.Name = "j" }),
			"it never started: a, b, c had not ended, and the policy is Forbid; j has the name of its Job, and was made for another due time of that minute", "[4 9]"},
		{"a run that was asked for, and held back", duetimes.CronJob{}, whentest.Entry(60, 60, events.TickRefused,
			func(e *duetimes.Entry) { e.By = "anna" }),
			"it never started: a Job of before had not ended, and the policy is Forbid", "[9]"},
		{"the schedule was changed", duetimes.CronJob{Changes: []duetimes.Change{edit}}, whentest.Entry(60, 60,
			events.TickReplaced, nil),
			`dropped: the schedule was changed while it was open: schedule "a" → "b" (field manager helm)`, "[8 9]"},
		{"the schedule was changed in that very record", duetimes.CronJob{Changes: []duetimes.Change{edit}},
			whentest.Entry(60, 60,
				events.TickReplaced, func(e *duetimes.Entry) { e.Record = 8 }),
			`dropped: the schedule was changed while it was open: schedule "a" → "b" (field manager helm)`, "[8 8]"},
		{"it was changed as it was due", duetimes.CronJob{Changes: []duetimes.Change{edit}}, whentest.Entry(61, 61,
			events.TickReplaced, nil),
			`dropped: the schedule was changed while it was open: schedule "a" → "b" (field manager helm)`, "[8 9]"},
		{"it was changed before", duetimes.CronJob{Changes: []duetimes.Change{edit}}, whentest.Entry(62, 62,
			events.TickReplaced, nil), "dropped: the schedule was changed while it was open", "[9]"},
		{"it was changed later", duetimes.CronJob{Changes: []duetimes.Change{edit}}, whentest.Entry(60, 60,
			events.TickReplaced, func(e *duetimes.Entry) { e.Record = 7 }),
			"dropped: the schedule was changed while it was open", "[7]"},
		{"deleted", duetimes.CronJob{}, whentest.Entry(60, 60, events.TickDeleted, nil), "dropped: the CronJob was deleted",
			"[9]"},
		{"deleted while it was held back", duetimes.CronJob{Holds: []duetimes.Hold{forbid}}, whentest.Entry(60, 60,
			events.TickDeleted, nil),
			"dropped: the CronJob was deleted before it was started: a, b, c had not ended, and the policy is Forbid", "[4 9]"},
		{"not watched", duetimes.CronJob{}, whentest.Entry(60, 60, events.TickUnwatched, nil), "no controller watched",
			"[9]"},
		{"undecided", duetimes.CronJob{}, whentest.Entry(60, 60, 0, nil), words.Undecided, "[]"},
		{"undecided, suspended", duetimes.CronJob{Seen: suspend.After, Changes: []duetimes.Change{suspend}},
			whentest.Entry(60, 60, 0, nil), "not started: the CronJob was suspended at " + (&Fates{}).Seen(whentest.Sec(50)),
			"[3]"},
		{"undecided, suspended from the beginning", duetimes.CronJob{Seen: &events.CronJobSeen{Suspend: true}},
			whentest.Entry(60, 60, 0, nil),
			"not started: the CronJob is suspended, as far back as the records go", "[]"},
	} {
		f := &Fates{Due: &row.due}
		text, from := f.Became(&row.e)
		records := []events.Sequence{}
		for _, m := range from {
			records = append(records, m.Record)
		}
		if text != row.want || fmt.Sprint(records) != row.from {
			t.Errorf("%s: %q by %v, want %q by %s", row.name, text, records, row.want, row.from)
		}
	}
	asked := &Fates{Due: &duetimes.CronJob{Ledger: &events.TickLedger{Open: whentest.Sec(60)}},
		Asked: history.Command{Does: "create j", Since: whentest.Recorded(61)}, AskedBy: []explain.Mark{{Record: 7}}}
	for n, want := range map[float64]bool{60: true, 61: false} {
		e := whentest.Entry(n, n, 0, nil)
		if text, from := asked.Became(&e); strings.Contains(text, "create j: asked for at ") != want ||
			(len(from) == 1) != want {
			t.Errorf("%v: %s by %v", n, text, from)
		}
	}
	gap := &Fates{Due: &duetimes.CronJob{}, Gaps: []*history.Gap{{From: whentest.Recorded(50),
		Until: whentest.Recorded(70), Reason: "relist", Listing: 8, Synced: 9}}}
	e := whentest.Entry(60, 60, events.TickUnwatched, nil)
	if text, from := gap.Became(&e); !strings.HasSuffix(text, ", because the watch was lost") || len(from) != 3 {
		t.Errorf("in a gap: %s by %v", text, from)
	}
}

// TestWhatHeldADueTimeBack: each thing once; and of holds without names only the kind.
func TestWhatHeldADueTimeBack(t *testing.T) {
	f := &Fates{}
	whentest.Texts(t, [][2]string{
		{f.HoldText(events.HeldForbid, nil), "a Job of before had not ended, and the policy is Forbid"},
		{f.HoldText(events.HeldForbid, []string{"a"}), "a had not ended, and the policy is Forbid"},
		{f.HoldText(events.HeldSuspended, nil), "the CronJob was suspended"}, {f.HoldText(events.HeldBadZone, nil),
			"its time zone is unknown"},
		{f.HoldText(events.HeldNoCreate, nil), "the API server refused its Job"}, {f.HoldText(events.NotHeld, nil),
			words.HoldText(events.NotHeld)},
	})
	hold := func(by events.TickHold) duetimes.Hold {
		return duetimes.Hold{Due: whentest.Sec(60), By: by, Record: 4, At: whentest.Sec(60)}
	}
	f.Due = &duetimes.CronJob{Holds: []duetimes.Hold{hold(events.HeldForbid), hold(events.HeldForbid),
		{Due: whentest.Sec(59), By: events.HeldBadZone}, hold(events.HeldSuspended)}}
	e := whentest.Entry(60, 60, events.TickMerged, nil)
	if why, from := f.heldBy(&e); why != "a Job of before had not ended, and the policy is Forbid; the CronJob was suspended" || len(from) != 2 {
		t.Errorf("%q by %v", why, from)
	}
	if why, from := f.HeldBefore(&e); strings.Count(why, "; ") != 2 || len(from) != 3 {
		t.Errorf("before its start: %q by %v", why, from)
	}
}

// TestWordsForDueTimes: of a refusal, and of a CronJob that starts nothing.
func TestWordsForDueTimes(t *testing.T) {
	whentest.Texts(t, [][2]string{
		{RefusalText(&duetimes.Refusal{Says: "x"}).Cut, "the API server refused its Job (no answer): x"},
		{RefusalText(&duetimes.Refusal{Class: events.RefusedQuota}).Cut,
			"the API server refused its Job (Quota): the log has no words of the server"},
		{Idle(&duetimes.CronJob{}), ""}, {Idle(&duetimes.CronJob{Gone: 1, Seen: &events.CronJobSeen{Suspend: true}}),
			"the CronJob is deleted"},
		{Idle(&duetimes.CronJob{Seen: &events.CronJobSeen{Deleted: 1, Suspend: true}}),
			"the CronJob is being deleted, so nothing starts any more"},
		{Idle(&duetimes.CronJob{Seen: &events.CronJobSeen{Suspend: true}}), "the CronJob is suspended, so nothing starts"},
		{Idle(&duetimes.CronJob{Seen: &events.CronJobSeen{}}), ""},
	})
}

// TestTheGapOfADueTime: the one in which it lies, and a second longer.
func TestTheGapOfADueTime(t *testing.T) {
	f := &Fates{Gaps: []*history.Gap{{From: whentest.Recorded(5), Until: whentest.Recorded(8), Listing: 10}}}
	for n, want := range map[float64]bool{4.9: false, 5: true, 8: true, 9: true, 9.1: false} {
		if got := f.GapAt(whentest.Sec(n)) != nil; got != want {
			t.Errorf("%v: in a gap: %t", n, got)
		}
	}
}
