package explain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// entry is a due time of that second, or of several, and what became of it.
func entry(first, last float64, fate events.TickFate, change func(*duetimes.Entry)) duetimes.Entry {
	e := duetimes.Entry{Tick: events.Tick{First: sec(first), Last: sec(last), Fate: fate}, Record: 9, At: sec(last + 1)}
	if change != nil {
		change(&e)
	}
	return e
}

// TestDueTimesInTheirZone: in the zone of the schedule and in UTC, with the day of both where it differs, and in the
// zone that is asked for.
func TestDueTimesInTheirZone(t *testing.T) {
	at := events.At(time.Date(2026, 3, 2, 13, 30, 0, 0, time.UTC))
	odd := events.At(time.Date(2026, 3, 2, 13, 30, 5, 0, time.UTC))
	east, far := time.FixedZone("East", 3600), time.FixedZone("Far", 14*3600)
	for _, row := range []struct {
		f                           fates
		at, in, short, seen, second string
	}{
		{fates{}, "2 Mar 13:30 UTC", "2 Mar 13:30 UTC", "2 Mar 13:30", "2 Mar 13:30:00", "2 Mar 13:30:05 UTC"},
		{fates{dates: true}, "2026-03-02 13:30 UTC", "2026-03-02 13:30 UTC", "2026-03-02 13:30", "2026-03-02 13:30:00", "2026-03-02 13:30:05 UTC"},
		{fates{location: east}, "2 Mar 14:30 East (13:30 UTC)", "2 Mar 14:30 East", "2 Mar 14:30", "2 Mar 13:30:00", "2 Mar 14:30:05 East (13:30:05 UTC)"},
		{fates{location: far}, "3 Mar 03:30 Far (2 Mar 13:30 UTC)", "3 Mar 03:30 Far", "3 Mar 03:30", "2 Mar 13:30:00", "3 Mar 03:30:05 Far (2 Mar 13:30:05 UTC)"},
		{fates{location: far, zone: words.Zone{Location: east}}, "2 Mar 14:30 zone +01:00", "2 Mar 14:30 zone +01:00", "2 Mar 14:30", "2 Mar 14:30:00", "2 Mar 14:30:05 zone +01:00"},
	} {
		f := &row.f
		texts(t, [][2]string{{f.at(at), row.at}, {f.in(at), row.in}, {f.short(at), row.short}, {f.seen(at), row.seen}, {f.at(odd), row.second}})
	}
	if got := (&fates{}).seen(0); got != "an unknown time" {
		t.Errorf("no time is %q", got)
	}
}

// TestHowTheSpecWasAtATime: by the changes around it, and by the newest where there was none.
func TestHowTheSpecWasAtATime(t *testing.T) {
	spec := func(suspend bool, deadline int64) *events.CronJobSeen {
		return &events.CronJobSeen{Suspend: suspend, Deadline: &deadline}
	}
	f := &fates{due: &duetimes.CronJob{
		Seen: spec(false, 3),
		Changes: []duetimes.Change{
			{Before: spec(false, 1), After: spec(true, 1), Record: 10, At: sec(10)},
			{Before: spec(true, 1), After: spec(true, 2), Record: 20, At: sec(20)},
			{Before: spec(true, 2), After: spec(false, 3), Record: 30, At: sec(30)},
		},
	}}
	for _, row := range []struct {
		n        float64
		is       bool
		by       events.Sequence
		deadline int64
	}{{9, false, 0, 1}, {10, true, 10, 1}, {15, true, 10, 1}, {20, true, 10, 2}, {29, true, 10, 2}, {30, false, 30, 3}, {40, false, 30, 3}} {
		is, by := f.suspendedAt(sec(row.n))
		record := events.Sequence(0)
		if by != nil {
			record = by.Record
		}
		if d := f.deadlineAt(sec(row.n)); is != row.is || record != row.by || d == nil || *d != row.deadline {
			t.Errorf("%+v: suspended: %t, by %d, deadline %v", row, is, record, d)
		}
	}
	never := &fates{due: &duetimes.CronJob{Seen: spec(true, 7)}}
	if is, by := never.suspendedAt(sec(1)); !is || by != nil || *never.deadlineAt(sec(1)) != 7 {
		t.Errorf("as it always was: %t, %v", is, by)
	}
	unseen := &fates{due: &duetimes.CronJob{}}
	if is, _ := unseen.suspendedAt(sec(1)); is || unseen.deadlineAt(sec(1)) != nil {
		t.Error("one that was not seen is suspended")
	}
}

// TestWhatBecameOfDueTimes: of those that are ours to start, by their fates and what held them back.
func TestWhatBecameOfDueTimes(t *testing.T) {
	quota := duetimes.Refusal{Due: sec(60), Class: events.RefusedQuota, Says: "no room", First: 5, From: sec(61), Last: 6, Until: sec(62)}
	taken := duetimes.Refusal{Due: sec(60), Class: events.RefusedNameTaken, Says: "exists", First: 5, From: sec(61), Last: 6, Until: sec(62)}
	forbid := duetimes.Hold{Due: sec(60), By: events.HeldForbid, Record: 4, At: sec(60), Active: []string{"a", "b", "c", "d"}}
	refused := duetimes.Hold{Due: sec(60), By: events.HeldNoCreate, Record: 4, At: sec(60)}
	edit := duetimes.Change{
		Before: &events.CronJobSeen{Schedule: "a"}, After: &events.CronJobSeen{Schedule: "b"}, Record: 8, At: sec(61), By: &events.Edit{Manager: "helm"},
	}
	suspend := duetimes.Change{Before: &events.CronJobSeen{}, After: &events.CronJobSeen{Suspend: true}, Record: 3, At: sec(50)}
	d := int64(5)
	for _, row := range []struct {
		name string
		due  duetimes.CronJob
		e    duetimes.Entry
		want string
		from string
	}{
		{"started", duetimes.CronJob{}, entry(60, 60, events.TickStarted, nil), "started", "[9]"},
		{"started late", duetimes.CronJob{}, entry(60, 60, events.TickStarted, func(e *duetimes.Entry) { e.Name, e.Late, e.Seen = "j", 3*time.Second, 4*time.Second }),
			"started, as j, 3s late, seen 4s after it was due", "[9]"},
		{"started again", duetimes.CronJob{}, entry(60, 60, events.TickAgain, nil), "started, though it had its fate before", "[9]"},
		{"by hand", duetimes.CronJob{}, entry(60, 60, events.TickManual, func(e *duetimes.Entry) { e.By = "kubectl" }), "made by hand by kubectl", "[9]"},
		{"by hand of nobody known", duetimes.CronJob{}, entry(60, 60, events.TickManual, nil), "made by hand", "[9]"},
		{"merged", duetimes.CronJob{Holds: []duetimes.Hold{forbid}}, entry(60, 60, events.TickMerged, func(e *duetimes.Entry) { e.Into = sec(120) }),
			"merged into " + (&fates{}).at(sec(120)) + ": a, b, c had not ended, and the policy is Forbid", "[4 9]"},
		{"several merged", duetimes.CronJob{Holds: []duetimes.Hold{forbid}}, entry(60, 61, events.TickMerged, func(e *duetimes.Entry) { e.Into = sec(120) }),
			"merged into " + (&fates{}).at(sec(120)), "[9]"},
		{"too late", duetimes.CronJob{Seen: &events.CronJobSeen{Deadline: &d}}, entry(60, 60, events.TickTooLate, nil), "too late: startingDeadlineSeconds is 5", "[9]"},
		{"too late without a deadline", duetimes.CronJob{}, entry(60, 60, events.TickTooLate, nil), "too late", "[9]"},
		{"too late, suspended", duetimes.CronJob{Seen: suspend.After, Changes: []duetimes.Change{suspend}}, entry(60, 60, events.TickTooLate, nil),
			"too late: the CronJob was suspended at " + (&fates{}).seen(sec(50)), "[3 9]"},
		{"too late, suspended from the beginning", duetimes.CronJob{Seen: &events.CronJobSeen{Suspend: true}}, entry(60, 60, events.TickTooLate, nil),
			"too late: the CronJob was suspended", "[9]"},
		{"too late, refused", duetimes.CronJob{Holds: []duetimes.Hold{refused}, Refusals: []duetimes.Refusal{quota}}, entry(60, 60, events.TickTooLate, nil),
			"too late: the API server refused its Job (Quota): no room", "[5 6 9]"},
		{"several, one of them refused", duetimes.CronJob{Refusals: []duetimes.Refusal{quota}}, entry(50, 70, events.TickTooLate, nil), "too late: the API server refused its Job (Quota): no room", "[5 6 9]"},
		{"another one was refused", duetimes.CronJob{Refusals: []duetimes.Refusal{quota}}, entry(61, 70, events.TickTooLate, nil), "too late", "[9]"},
		{"refused, and no words are kept", duetimes.CronJob{Holds: []duetimes.Hold{refused}}, entry(60, 60, events.TickTooLate, nil), "too late: the API server refused its Job", "[4 9]"},
		{"refused twice in the same words", duetimes.CronJob{Refusals: []duetimes.Refusal{quota, quota}}, entry(60, 60, events.TickRefused, nil),
			"it never started: the API server refused its Job (Quota): no room", "[5 6 9]"},
		{"its name is taken", duetimes.CronJob{}, entry(60, 60, events.TickRefused, nil), "it never started: another object has the name of its Job", "[9]"},
		{"its name is taken by a Job of that minute", duetimes.CronJob{Refusals: []duetimes.Refusal{taken}}, entry(60, 60, events.TickRefused, func(e *duetimes.Entry) { e.Name = "j" }),
			"it never started: j has the name of its Job, and was made for another due time of that minute", "[9]"},
		{"its name is taken, and it was held back", duetimes.CronJob{Holds: []duetimes.Hold{forbid}}, entry(60, 60, events.TickRefused, func(e *duetimes.Entry) { e.Name = "j" }),
			"it never started: a, b, c had not ended, and the policy is Forbid; j has the name of its Job, and was made for another due time of that minute", "[4 9]"},
		{"a run that was asked for, and held back", duetimes.CronJob{}, entry(60, 60, events.TickRefused, func(e *duetimes.Entry) { e.By = "anna" }),
			"it never started: a Job of before had not ended, and the policy is Forbid", "[9]"},
		{"the schedule was changed", duetimes.CronJob{Changes: []duetimes.Change{edit}}, entry(60, 60, events.TickReplaced, nil),
			`dropped: the schedule was changed while it was open: schedule "a" → "b" (field manager helm)`, "[8 9]"},
		{"it was changed before", duetimes.CronJob{Changes: []duetimes.Change{edit}}, entry(62, 62, events.TickReplaced, nil), "dropped: the schedule was changed while it was open", "[9]"},
		{"it was changed later", duetimes.CronJob{Changes: []duetimes.Change{edit}}, entry(60, 60, events.TickReplaced, func(e *duetimes.Entry) { e.Record = 7 }),
			"dropped: the schedule was changed while it was open", "[7]"},
		{"deleted", duetimes.CronJob{}, entry(60, 60, events.TickDeleted, nil), "dropped: the CronJob was deleted", "[9]"},
		{"deleted while it was held back", duetimes.CronJob{Holds: []duetimes.Hold{forbid}}, entry(60, 60, events.TickDeleted, nil),
			"dropped: the CronJob was deleted before it was started: a, b, c had not ended, and the policy is Forbid", "[4 9]"},
		{"not watched", duetimes.CronJob{}, entry(60, 60, events.TickUnwatched, nil), "no controller watched", "[9]"},
		{"undecided", duetimes.CronJob{}, entry(60, 60, 0, nil), words.Undecided, "[]"},
		{"undecided, suspended", duetimes.CronJob{Seen: suspend.After, Changes: []duetimes.Change{suspend}}, entry(60, 60, 0, nil), "not started: the CronJob was suspended at " + (&fates{}).seen(sec(50)), "[3]"},
		{"undecided, suspended from the beginning", duetimes.CronJob{Seen: &events.CronJobSeen{Suspend: true}}, entry(60, 60, 0, nil),
			"not started: the CronJob is suspended, as far back as the records go", "[]"},
	} {
		f := &fates{due: &row.due}
		text, from := f.became(&row.e)
		records := []events.Sequence{}
		for _, m := range from {
			records = append(records, m.Record)
		}
		if text != row.want || fmt.Sprint(records) != row.from {
			t.Errorf("%s: %q by %v, want %q by %s", row.name, text, records, row.want, row.from)
		}
	}
	asked := &fates{due: &duetimes.CronJob{Ledger: &events.TickLedger{Open: sec(60)}}, asked: history.Command{Does: "create j", Since: recorded(61)}, askedBy: []Mark{{Record: 7}}}
	for n, want := range map[float64]bool{60: true, 61: false} {
		e := entry(n, n, 0, nil)
		if text, from := asked.became(&e); strings.Contains(text, "create j: asked for at ") != want || (len(from) == 1) != want {
			t.Errorf("%v: %s by %v", n, text, from)
		}
	}
	gap := &fates{due: &duetimes.CronJob{}, gaps: []*history.Gap{{From: recorded(50), Until: recorded(70), Reason: "relist", Listing: 8, Synced: 9}}}
	e := entry(60, 60, events.TickUnwatched, nil)
	if text, from := gap.became(&e); !strings.HasSuffix(text, ", because the watch was lost") || len(from) != 3 {
		t.Errorf("in a gap: %s by %v", text, from)
	}
}

// TestWhatHeldADueTimeBack: each thing once; and of holds without names only the kind.
func TestWhatHeldADueTimeBack(t *testing.T) {
	f := &fates{}
	texts(t, [][2]string{
		{f.holdText(events.HeldForbid, nil), "a Job of before had not ended, and the policy is Forbid"}, {f.holdText(events.HeldForbid, []string{"a"}), "a had not ended, and the policy is Forbid"},
		{f.holdText(events.HeldSuspended, nil), "the CronJob was suspended"}, {f.holdText(events.HeldBadZone, nil), "its time zone is unknown"},
		{f.holdText(events.HeldNoCreate, nil), "the API server refused its Job"}, {f.holdText(events.NotHeld, nil), words.HoldText(events.NotHeld)},
	})
	hold := func(by events.TickHold) duetimes.Hold {
		return duetimes.Hold{Due: sec(60), By: by, Record: 4, At: sec(60)}
	}
	f.due = &duetimes.CronJob{Holds: []duetimes.Hold{hold(events.HeldForbid), hold(events.HeldForbid), {Due: sec(59), By: events.HeldBadZone}, hold(events.HeldSuspended)}}
	e := entry(60, 60, events.TickMerged, nil)
	if why, from := f.heldBy(&e); why != "a Job of before had not ended, and the policy is Forbid; the CronJob was suspended" || len(from) != 2 {
		t.Errorf("%q by %v", why, from)
	}
	if why, from := f.heldBefore(&e); strings.Count(why, "; ") != 2 || len(from) != 3 {
		t.Errorf("before its start: %q by %v", why, from)
	}
}

// TestDueTimesThatAreMissedStandTogether: those in a row of which the same is to say but for numbers.
func TestDueTimesThatAreMissedStandTogether(t *testing.T) {
	run := func(n int, text string, records ...events.Sequence) *missedRun {
		x := &missedRun{first: entry(1, 1, 0, nil), last: entry(2, 2, 0, nil), n: n, text: text, alike: liken(text, ""), same: true}
		for _, r := range records {
			x.from = append(x.from, record(r))
		}
		return x
	}
	for _, row := range []struct {
		a, b *missedRun
		want bool
	}{
		{run(1, "too late"), run(2, "too late"), true}, {run(1, "too late"), run(1, "merged"), false}, {run(0, "too late"), run(1, "too late"), false},
		{run(1, "too late"), run(0, "too late"), false}, {run(1, "by 5 s"), run(1, "by 6 s"), true},
	} {
		if got := row.a.joins(row.b); got != row.want {
			t.Errorf("%+v and %+v: %t", row.a, row.b, got)
		}
	}
	x := run(1, "by 5 s", 1, 2)
	x.join(run(2, "by 6 s", 3))
	if x.n != 3 || x.same || x.text != "by 6 s" || fmt.Sprint(x.from) != fmt.Sprint([]Mark{record(3), record(1)}) {
		t.Errorf("%+v", x)
	}
	if x.join(run(1, "by 6 s", 4)); x.same {
		t.Error("they are the same again")
	}
}

// TestWhatCountsAsStarted: what has a Job, or of which it is not known.
func TestWhatCountsAsStarted(t *testing.T) {
	for fate, want := range map[events.TickFate]bool{
		0: false, events.TickStarted: true, events.TickMerged: false, events.TickTooLate: false, events.TickRefused: false, events.TickLost: false, events.TickUnwatched: false,
		events.TickDeleted: true, events.TickReplaced: true, events.TickSkipped: false, events.TickUnknown: true,
	} {
		e := entry(1, 1, fate, nil)
		if got := started(&e); got != want {
			t.Errorf("%s: %t", fate, got)
		}
		if e.Job = "uid"; !started(&e) {
			t.Errorf("%s with a Job did not start", fate)
		}
	}
}
