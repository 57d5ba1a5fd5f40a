package ticks_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/ticks"
	"github.com/jobledger/jobledger/internal/subject/zones"
)

func parsed(t *testing.T, text, zone string) schedule.Schedule {
	t.Helper()
	in := time.UTC
	if zone != "" {
		r, _ := zones.Find(zone)
		var err error
		if in, err = time.LoadLocationFromTZData(zone, r.TZif); err != nil {
			t.Fatal(err)
		}
	}
	s, err := schedule.Parse(text, in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// clock is the time of day on Monday, 2 March 2026; one without a colon is a later day of that month.
func clock(t *testing.T, text string) time.Time {
	t.Helper()
	day := 2
	if d, rest, ok := strings.Cut(text, "@"); ok {
		text = rest
		if _, err := fmt.Sscan(d, &day); err != nil {
			t.Fatal(err)
		}
	}
	at, err := time.Parse("15:04:05", text)
	if err != nil {
		t.Fatal(err)
	}
	return time.Date(2026, 3, day, at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
}

func said(entries ...ticks.Entry) string {
	var words []string
	for _, e := range entries {
		text := e.First.Format("15:04")
		if e.Last != e.First {
			text += "-" + e.Last.Format("15:04")
		}
		text += " " + e.Fate.String()
		if !e.Into.IsZero() {
			text += " " + e.Into.Format("15:04")
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}

func TestFates(t *testing.T) {
	seconds := func(n int64) *int64 { return &n }
	for _, row := range []struct {
		sentence, text string
		anchor         string
		deadline       *int64
		gap            string // in which nobody watched, "from until"; from is "-" for since ever, and empty is none
		looks          []string
		hold           ticks.Hold
		want           string // of the last look
		open           string
	}{
		{"before the first instant there is nothing", "*/10 * * * *", "08:00:00", nil, "", []string{"08:09:59"}, ticks.NotHeld, "", ""},
		{"an instant is open when it is due", "*/10 * * * *", "08:00:00", nil, "", []string{"08:10:00"}, ticks.NotHeld, "", "08:10"},
		{"one that is held back merges into the next one (C-081)", "*/10 * * * *", "08:00:00", nil, "", []string{"08:10:00", "08:20:00"}, ticks.Forbid, "08:10 merged into a later one 08:20", "08:20"},
		{"of several that were missed while it was watched the last is open", "*/10 * * * *", "08:00:00", nil, "", []string{"08:55:00"}, ticks.Suspended, "08:10-08:40 merged into a later one 08:50", "08:50"},
		{"those that no controller watched are a range, and the last is open", "*/10 * * * *", "08:00:00", nil, "- 08:55:00", []string{"08:55:00"}, ticks.NotHeld, "08:10-08:40 missed while no controller watched", "08:50"},
		{"some were watched and some were not", "*/10 * * * *", "08:00:00", nil, "- 08:25:00", []string{"08:55:00"}, ticks.Suspended, "08:10-08:20 missed while no controller watched; 08:30-08:40 merged into a later one 08:50", "08:50"},
		{"at the end of its deadline it is too late (C-083)", "0 * * * *", "08:00:00", seconds(300), "", []string{"09:00:00", "09:05:00"}, ticks.Forbid, "09:00 too late", ""},
		{"a second before it is not (C-083)", "0 * * * *", "08:00:00", seconds(300), "", []string{"09:00:00", "09:04:59"}, ticks.Forbid, "", "09:00"},
		{"one whose deadline was over before the next was due is too late, and not merged", "0 * * * *", "08:00:00", seconds(300), "", []string{"09:00:00", "10:00:00"}, ticks.Forbid, "09:00 too late", "10:00"},
		{"one whose deadline was over before it was watched again", "0 * * * *", "08:00:00", seconds(300), "08:59:00 09:30:00", []string{"09:30:00"}, ticks.NotHeld, "09:00 missed while no controller watched", ""},
		{"of a suspended one only those are missed that no controller watched", "*/10 * * * *", "08:00:00", nil, "08:25:00 08:45:00", []string{"09:15:00"}, ticks.Suspended, "08:10-08:20 merged into a later one 09:10; 08:30-08:40 missed while no controller watched; 08:50-09:00 merged into a later one 09:10", "09:10"},
		{"one that is due as a gap begins, or ends", "*/10 * * * *", "08:00:00", nil, "08:20:00 08:40:00", []string{"09:15:00"}, ticks.Suspended, "08:10 merged into a later one 09:10; 08:20-08:30 missed while no controller watched; 08:40-09:00 merged into a later one 09:10", "09:10"},
		{"one that was held back before the gap is too late, and not missed", "0 * * * *", "08:00:00", seconds(300), "09:02:00 09:30:00", []string{"09:30:00"}, ticks.Suspended, "09:00 too late", ""},
		{"one that was watched through the start of a gap and after it until its deadline", "0 * * * *", "08:00:00", seconds(300), "08:59:00 09:01:00", []string{"09:30:00"}, ticks.NotHeld, "09:00 too late", ""},
		{"one that was due before the gap that its deadline ends in", "0 * * * *", "08:00:00", seconds(300), "09:02:00 09:30:00", []string{"09:30:00"}, ticks.NotHeld, "09:00 too late", ""},
		{"the estimate loses all that the gap has not (C-080)", "0 9,10,11 * * 1-5", "09:00:00", nil, "09:30:00 10:30:00", []string{"3@14:30:00"}, ticks.NotHeld, "10:00 missed while no controller watched; 11:00-10:00 lost by the estimate; 11:00 lost by the estimate", ""},
		{"the estimate loses all of them (C-080)", "0 9,10,11 * * 1-5", "09:00:00", nil, "", []string{"3@14:30:00"}, ticks.NotHeld, "10:00-10:00 lost by the estimate; 11:00 lost by the estimate", ""},
		{"a deadline of an @every moves its instants (C-084)", "@every 20m", "08:27:00", seconds(1800), "", []string{"10:00:00"}, ticks.NotHeld, "08:47-09:47 merged into a later one 09:50", "09:50"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			anchor := clock(t, row.anchor)
			l := ticks.Begin(anchor)
			k := ticks.Look{Schedule: parsed(t, row.text, ""), Anchor: anchor, Deadline: row.deadline, Hold: row.hold}
			if from, until, ok := strings.Cut(row.gap, " "); ok {
				gap := ticks.Gap{Until: clock(t, until)}
				if from != "-" {
					gap.From = clock(t, from)
				}
				k.Gaps = []ticks.Gap{gap}
			}
			var got []ticks.Entry
			for _, at := range row.looks {
				k.Now = clock(t, at)
				got, _ = l.Look(&k)
				if again, held := l.Look(&k); len(again) > 0 || held {
					t.Errorf("a second look at %s says %s", at, said(again...))
				}
			}
			if said(got...) != row.want {
				t.Errorf("the last look says\n%s, want\n%s", said(got...), row.want)
			}
			if open := l.Open; row.open == "" && !open.IsZero() || row.open != "" && open.Format("15:04") != row.open {
				t.Errorf("open is %v, want %q", open, row.open)
			}
		})
	}
}

// TestADeadlineIsAskedOfEach: of due times that are looked at together each is too late if its deadline is over before
// the next one is due.
func TestADeadlineIsAskedOfEach(t *testing.T) {
	for _, row := range []struct {
		text     string
		deadline int64
		paced    bool
		gap      bool // nobody watched from 08:01:30 to 08:03:30
		want     string
	}{
		{"@every 1m", 0, true, false, "08:01-08:04 too late; 08:05 too late"},
		{"@every 1m", 59, true, false, "08:01-08:04 too late; 08:05 too late"},
		{"@every 1m", 61, true, false, "08:01-08:05 merged into a later one 08:05"}, // at 08:05:58, as a deadline moves its due times (C-084)
		{"@every 1m", 0, false, false, "08:01-08:04 merged into a later one 08:05; 08:05 too late"},
		{"@every 1m", 0, true, true, "08:01 too late; 08:02-08:03 missed while no controller watched; 08:04 too late; 08:05 too late"},
		{"* * * * *", 30, true, false, "08:01-08:04 merged into a later one 08:05; 08:05 too late"}, // its intervals may be unequal
	} {
		l := ticks.Begin(clock(t, "08:00:00"))
		k := ticks.Look{
			Schedule: parsed(t, row.text, ""), Anchor: clock(t, "08:00:00"), Now: clock(t, "08:05:59"), Deadline: &row.deadline, Paced: row.paced,
		}
		if row.gap {
			k.Gaps = []ticks.Gap{{From: clock(t, "08:01:30"), Until: clock(t, "08:03:30")}}
		}
		if got, _ := l.Look(&k); said(got...) != row.want {
			t.Errorf("%s with a deadline of %d s, paced %t, gap %t: %s, want %s", row.text, row.deadline, row.paced, row.gap, said(got...), row.want)
		}
	}
}

// An @every counts from its anchor, also when the ledger begins in between: where the schedule was changed (C-033,
// C-094).
func TestEveryCountsFromItsAnchor(t *testing.T) {
	l := ticks.Begin(clock(t, "08:00:00"))
	k := ticks.Look{Schedule: parsed(t, "@every 1h", ""), Anchor: clock(t, "06:40:00"), Now: clock(t, "08:39:59")}
	if got, held := l.Look(&k); len(got) > 0 || held {
		t.Errorf("before the first instant: %s", said(got...))
	}
	k.Now = clock(t, "10:45:00")
	if got, _ := l.Look(&k); said(got...) != "08:40-09:40 merged into a later one 10:40" || !l.Open.Equal(clock(t, "10:40:00")) {
		t.Errorf("%s, and open is %s", said(got...), l.Open)
	}
}

// What holds an instant back is told once for each change.
func TestHeld(t *testing.T) {
	anchor := clock(t, "08:00:00")
	l := ticks.Begin(anchor)
	k := ticks.Look{Schedule: parsed(t, "0 * * * *", ""), Anchor: anchor, Hold: ticks.Forbid}
	for _, row := range []struct {
		at   string
		hold ticks.Hold
		told bool
	}{
		{"08:30:00", ticks.Forbid, false}, {"09:00:00", ticks.Forbid, true}, {"09:10:00", ticks.Forbid, false},
		{"09:11:00", ticks.Suspended, true}, {"09:12:00", ticks.Suspended, false}, {"10:00:00", ticks.Suspended, true},
		{"10:12:00", ticks.Suspended, false}, {"10:13:00", ticks.NotHeld, true},
	} {
		k.Now, k.Hold = clock(t, row.at), row.hold
		if _, told := l.Look(&k); told != row.told {
			t.Errorf("at %s it is told: %t, want %t", row.at, told, row.told)
		}
	}
	if e, ok := l.Start(clock(t, "10:13:05")); !ok || e.Late != 13*time.Minute+5*time.Second || e.Fate != ticks.Started {
		t.Errorf("started: %+v", e)
	}
	if _, ok := l.Start(clock(t, "10:13:06")); ok {
		t.Error("it starts twice")
	}
	if k.Now, k.Hold = clock(t, "11:00:00"), ticks.NotHeld; l.Hold != ticks.NotHeld {
		t.Errorf("what has started is held back: %+v", l)
	}
	if _, told := l.Look(&k); !told {
		t.Error("one that is about to start is not told")
	}
}

// TestWhatIsClosedIsNotHeld: a hold is that of the open due time, whatever ends it.
func TestWhatIsClosedIsNotHeld(t *testing.T) {
	for name, end := range map[string]func(l *ticks.Ledger, k *ticks.Look){
		"start":   func(l *ticks.Ledger, k *ticks.Look) { l.Start(k.Now) },
		"end":     func(l *ticks.Ledger, _ *ticks.Look) { l.End(ticks.Refused) },
		"replace": func(l *ticks.Ledger, k *ticks.Look) { l.Replace(k.Now) },
		"late": func(l *ticks.Ledger, k *ticks.Look) {
			none := int64(0)
			k.Deadline = &none
			l.Look(k)
		},
		"passed":        func(l *ticks.Ledger, k *ticks.Look) { k.Anchor = k.Now; l.Passed(k) },
		"passed before": func(l *ticks.Ledger, k *ticks.Look) { k.Anchor = clock(t, "08:30:00"); l.Passed(k) },
	} {
		l := ticks.Begin(clock(t, "08:00:00"))
		k := ticks.Look{Schedule: parsed(t, "0 * * * *", ""), Anchor: clock(t, "08:00:00"), Hold: ticks.Suspended, Now: clock(t, "09:05:00")}
		if _, held := l.Look(&k); !held || l.Hold != ticks.Suspended || l.Open.IsZero() {
			t.Fatalf("nothing is held back: %+v", l)
		}
		if end(&l, &k); !l.Open.IsZero() || l.Hold != ticks.NotHeld {
			t.Errorf("after %s the ledger is %+v", name, l)
		}
	}
}

// Through downtime, suspensions, edits, slow starts and refusals each due time has one fate, and no other instant has
// one.
func TestEachDueTimeHasOneFate(t *testing.T) {
	texts := []string{"* * * * *", "*/7 * * * *", "0 9,10,11 * * 1-5", "30 2 * * *", "0 0 13 * 5", "@hourly", "@every 37m", "15 1-3 * * *"}
	in := []string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Tokyo"}
	total, fates := 0, map[ticks.Fate]int{}
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 16))
		pick := func() schedule.Schedule { return parsed(t, texts[r.IntN(len(texts))], in[r.IntN(len(in))]) }
		now := time.Date(2026, 1, 1, 0, 0, 17, 0, time.UTC)
		end := now.AddDate(0, 3, 0)
		l := ticks.Begin(now)
		k := ticks.Look{Schedule: pick(), Anchor: now}
		if !k.Schedule.Every() && r.IntN(2) == 0 {
			n := int64(r.IntN(7200))
			k.Deadline = &n
		}
		at := now // through which it has been checked
		check := func(entries ...ticks.Entry) {
			t.Helper()
			for _, e := range entries {
				n := 0
				for tick := range k.Schedule.Between(at, e.Last) {
					if n == 0 && !tick.Equal(e.First) {
						t.Fatalf("seed %d: %s begins at %v, want %v", seed, e.Fate, e.First, tick)
					}
					n++
				}
				if n == 0 {
					t.Fatalf("seed %d: no due time in %s of %v", seed, e.Fate, e.First)
				}
				if e.Fate == ticks.Started && k.Deadline != nil && e.Late >= time.Duration(*k.Deadline)*time.Second {
					t.Fatalf("seed %d: started %v late, beyond its deadline", seed, e.Late)
				}
				total += n
				fates[e.Fate] += n
				at = e.Last
			}
		}
		for now.Before(end) {
			switch r.IntN(20) {
			case 0, 1: // down
				from := now
				now = now.Add(time.Duration(r.IntN(72)) * time.Hour)
				k.Gaps = append(k.Gaps, ticks.Gap{From: from, Until: now})
			case 2, 3, 4:
				k.Hold = ticks.Hold(r.IntN(5))
			case 5: // an edit, carried out at once
				k.Now = now
				entries, _ := l.Look(&k)
				check(entries...)
				if e, was := l.Replace(now); was {
					check(e)
				}
				for range k.Schedule.Between(at, now) {
					t.Fatalf("seed %d: a due time of before the edit has no fate", seed)
				}
				k.Deadline, k.Schedule, at = nil, pick(), now
				k.Anchor = now // of those before none is of concern
			}
			now = now.Add(time.Duration(r.IntN(5400)) * time.Second)
			k.Now = now
			entries, _ := l.Look(&k)
			check(entries...)
			if !l.Open.IsZero() && k.Hold == ticks.NotHeld {
				if r.IntN(20) == 0 {
					e, _ := l.End(ticks.Refused)
					check(e)
					continue
				}
				k.Anchor = l.Open
				e, _ := l.Start(now)
				check(e)
			}
		}
		if e, was := l.End(ticks.Deleted); was {
			check(e)
		}
		for tick := range k.Schedule.Between(at, now) {
			t.Fatalf("seed %d: %v has no fate", seed, tick)
		}
	}
	t.Logf("%d due times: %v", total, fates)
	for f := ticks.Started; f <= ticks.Replaced; f++ {
		if fates[f] == 0 && f != ticks.Deleted { // which is rare
			t.Errorf("no due time is %s", f)
		}
	}
}
