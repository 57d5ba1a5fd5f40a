package duetimes

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/subject/ticks"
	"github.com/jobledger/jobledger/store"
)

// TestChangesOfBeforeAreLookedBackFor: who reads from a stored state on, and looks back, has the changes that the whole
// has.
func TestChangesOfBeforeAreLookedBackFor(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	src := history.Local{Log: log}
	said := func(c *CronJob) (all []string) {
		for _, ch := range c.Changes {
			all = append(all, fmt.Sprintf("#%d %d by %v: %s %t %s to %s %t %s, was #%d", ch.Record, ch.At, ch.By, ch.Before.Schedule, ch.Before.Suspend, ch.Before.Policy,
				ch.After.Schedule, ch.After.Suspend, ch.After.Policy, ch.Was.Record))
		}
		return all
	}
	looked := 0
	for _, x := range ofCronJobs(t, log) {
		for _, r := range x.own {
			if r.Kind != events.KindStateStored {
				continue
			}
			c, err := ReadSpan(t.Context(), src, x.s, Span{From: r.Sequence})
			if err != nil {
				t.Fatal(err)
			}
			missing := len(x.whole.Changes) - len(c.Changes)
			if err := c.LookBack(t.Context(), src, x.s); err != nil || !slices.Equal(said(c), said(x.whole)) {
				t.Errorf("%s from %d on, looked back: %v\nwant %v, %v", x.s, r.Sequence, said(c), said(x.whole), err)
			}
			looked += missing
			damaged := history.Local{Log: &historytest.Failing{Reader: log, Bad: func(n events.Sequence) error {
				if n < r.Sequence && missing > 0 {
					return &store.CorruptError{Path: "x", At: n}
				}
				return nil
			}}}
			if c, err = ReadSpan(t.Context(), src, x.s, Span{From: r.Sequence}); err == nil {
				err = c.LookBack(t.Context(), damaged, x.s)
			}
			if err != nil || missing > 0 && len(c.Changes) != len(x.whole.Changes)-missing {
				t.Errorf("%s from %d on, with damage before: %d changes, %v", x.s, r.Sequence, len(c.Changes), err)
			}
		}
	}
	if looked < 5 {
		t.Errorf("only %d changes were looked back for", looked)
	}
	var none CronJob
	if err := none.LookBack(t.Context(), src, nightly); err != nil || len(none.Changes) > 0 {
		t.Errorf("nothing was read: %v, %v", none.Changes, err)
	}
}

// TestHowLongSomethingKept: the wait may begin two seconds after the due time, and end ten before the next; of short
// waits a quarter and a half.
func TestHowLongSomethingKept(t *testing.T) {
	at := func(d time.Duration) events.Time { return events.At(moment("09:00")).Add(d) }
	const s = time.Second
	span := func(from, until time.Duration) Kept {
		k := Kept{By: events.HeldForbid, From: at(from)}
		if until != 0 {
			k.Until = at(until)
		}
		return k
	}
	for _, row := range []struct {
		spans []Kept
		until time.Duration
		n     int
		whole bool
		free  time.Duration // the first instant without any; -1 for the time as of which it was read
	}{
		{[]Kept{span(2*s, 50*s)}, 60 * s, 1, true, 50 * s}, {[]Kept{span(2*s+1, 50*s)}, 60 * s, 1, false, 0}, {[]Kept{span(2*s, 50*s-1)}, 60 * s, 1, false, 50*s - 1},
		{[]Kept{span(s, 2*s)}, 4 * s, 1, true, 2 * s}, {[]Kept{span(s+1, 2*s)}, 4 * s, 1, false, 2 * s}, {[]Kept{span(s, 2*s-1)}, 4 * s, 1, false, 2*s - 1},
		{[]Kept{span(-9*s, -1), {From: at(-9 * s), Until: at(0)}}, 60 * s, 0, false, 0}, {[]Kept{span(60*s, 90*s)}, 60 * s, 0, false, 0}, {[]Kept{span(-9*s, 1)}, 60 * s, 1, false, 1},
		{[]Kept{span(-9*s, 0)}, 60 * s, 1, true, -1}, {[]Kept{span(-9*s, 30*s), span(30*s, 55*s)}, 60 * s, 2, true, 55 * s},
		{[]Kept{span(-9*s, 30*s), span(30*s+1, 55*s)}, 60 * s, 2, false, 55 * s}, {[]Kept{span(-9*s, 55*s), span(-5*s, 10*s)}, 60 * s, 2, true, 55 * s},
		{[]Kept{span(-5*s, 10*s), span(-9*s, 55*s)}, 60 * s, 2, true, 55 * s}, {nil, 60 * s, 0, false, 0}, {[]Kept{span(59*s, 0)}, 60 * s, 1, false, 0},
	} {
		c := &CronJob{kept: keeping{spans: row.spans}, now: at(time.Hour)}
		all, whole := c.Kept(at(0), at(row.until))
		free := c.free(at(0))
		if row.free < 0 {
			row.free = time.Hour
		}
		if len(all) != row.n || whole != row.whole || free != at(row.free) {
			t.Errorf("%v: %d of it, the whole: %t, free after %s", row, len(all), whole, free.Sub(at(0)))
		}
	}
	suspended := Kept{By: events.HeldSuspended, From: at(0)}
	for want, spans := range map[events.TickHold][]Kept{
		events.HeldForbid: {span(0, 0), span(1, 5)}, events.HeldSuspended: {span(0, 0), suspended, span(2, 0)},
	} {
		if k := (&CronJob{kept: keeping{spans: spans}}).keptNow(); k == nil || k.By != want || k.From != at(0) {
			t.Errorf("kept by %+v, want %s", k, want)
		}
	}
	if k := (&CronJob{kept: keeping{spans: []Kept{span(0, 5)}}}).keptNow(); k != nil {
		t.Errorf("kept by %+v, which ended", k)
	}
}

// TestTheNearestDueTimes: the last before and the first after; the instant itself is neither.
func TestTheNearestDueTimes(t *testing.T) {
	var v Verdict
	for _, clock := range []string{"08:00", "08:30", "08:10", "09:00", "10:00", "09:30", "09:40"} {
		v.near(moment(clock), moment("09:00"))
	}
	if !v.Before.Equal(moment("08:30")) || !v.After.Equal(moment("09:30")) {
		t.Errorf("%s and %s", v.Before, v.After)
	}
	every := &events.TickLedger{Schedule: "*/7 * * * *", Through: events.At(moment("08:00"))}
	c := &CronJob{now: events.At(moment("12:00"))}
	e := Entry{by: every, Tick: events.Tick{First: events.At(moment("08:07")), Last: events.At(moment("08:56")), Into: events.At(moment("08:56"))}}
	for clock, want := range map[string]string{"08:07": "08:14", "08:10": "08:14", "08:56": "09:00"} {
		if got := c.Until(&e, events.At(moment(clock))); got != events.At(moment(want)) {
			t.Errorf("%s could start until %s, want %s", clock, got.Go(), want)
		}
	}
	every.Schedule = "@every 7m"
	if got := c.Until(&e, e.First); got != e.Into {
		t.Errorf("one of @every could start until %s", got.Go())
	}
	e.by = nil
	if got := c.Until(&e, e.First); got != e.First {
		t.Errorf("by nothing that is known it could start until %s", got.Go())
	}
	for range 2 {
		if n, ok := c.Count(&e); n != 0 || ok {
			t.Errorf("by nothing that is known it has %d due times, %t", n, ok)
		}
	}
	early := &events.RunSeen{Job: "a", Name: "a", Due: e.First, Created: e.First - 5} // by another clock
	c.firstSeen = map[types.UID]events.Time{"a": e.First - 3}
	if got := c.entryOf(&timing{by: *every}, 0, &ticks.Entry{First: e.First.Go(), Last: e.First.Go(), Fate: ticks.Started}, early); got.Late != 0 || got.Seen != 0 || got.Job != "a" {
		t.Errorf("it started %s late, and was seen after %s", got.Late, got.Seen)
	}
	c.Seen = &events.CronJobSeen{Schedule: "* * * * *"}
	if zone := c.Location(); zone != nil {
		t.Errorf("the zone is %s", zone)
	}
	for minutes, more := range map[int]bool{0: false, 1: false, 100: false, 101: true} {
		if n, is := c.Between(moment("08:00"), moment("08:00").Add(time.Duration(minutes)*time.Minute)); n != min(minutes, 100) || is != more {
			t.Errorf("in %d minutes there are %d, and more: %t", minutes, n, is)
		}
	}
}

// TestByWhatAZoneCounts: the zone that the schedule names counts where there is one, else that of spec.timeZone; its
// rules are those that the CronJob was seen with.
func TestByWhatAZoneCounts(t *testing.T) {
	zones := []events.ZoneName{{Name: "Europe/Berlin", Hash: "b"}, {Name: "Asia/Tokyo", Hash: "t"}}
	for _, row := range []struct {
		schedule string
		zone     *string
		zones    []events.ZoneName
		want     string
	}{
		{"0 0 * * *", nil, zones, ""}, {"0 0 * * *", new("Asia/Tokyo"), zones, "t"},
		{"TZ=Europe/Berlin 0 0 * * *", nil, zones, "b"},
		{"TZ=Europe/Berlin 0 0 * * *", new("Asia/Tokyo"), zones, "b"}, {"0 0 * * *", new("Asia/Tokyo"), nil, ""},
	} {
		by := countsBy(&events.CronJobSeen{Schedule: row.schedule, TimeZone: row.zone, Zones: row.zones})
		if by.Zone != row.want || by.Schedule != row.schedule || by.TimeZone != row.zone {
			t.Errorf("%s in %v is counted by %+v, want zone %q", row.schedule, row.zone, by, row.want)
		}
	}
}

// TestAfterWhichRunItIsDueNext: after now, the newest start that the status shows, that records tell, or that was seen,
// whichever is the latest: another controller's clock may be ahead.
func TestAfterWhichRunItIsDueNext(t *testing.T) {
	now, before, ahead := events.At(moment("03:00")), events.At(moment("02:00")), events.At(moment("03:10"))
	for what, row := range map[string]struct {
		c    CronJob
		want events.Time
	}{
		"nothing started": {CronJob{}, now},
		"all started before": {
			CronJob{Seen: &events.CronJobSeen{LastSchedule: before}, seenRuns: []events.RunSeen{{Due: before}}}, now,
		},
		"the status is ahead":      {CronJob{Seen: &events.CronJobSeen{LastSchedule: ahead}}, ahead},
		"a run is ahead":           {CronJob{seenRuns: []events.RunSeen{{Due: ahead}, {Due: before}}}, ahead},
		"one that was told of, is": {CronJob{kept: keeping{since: ahead}}, ahead},
	} {
		if got := events.At(row.c.DueAfter(now.Go())); got != row.want {
			t.Errorf("%s: due after %s, want %s", what, got.Go(), row.want.Go())
		}
	}
}

// TestHowFarTheDueTimeOfAJobIsLookedFor is so many records behind the Job's first one, beside what is before it.
func TestHowFarTheDueTimeOfAJobIsLookedFor(t *testing.T) {
	run := &events.RunSeen{Job: "uid-run", Name: "nightly-1", Due: events.At(moment("02:00"))}
	entry := decided(hourly("02:00"), events.Tick{First: events.At(moment("02:00")), Last: events.At(moment("02:00")),
		Fate: events.TickStarted, Job: "uid-run", Name: "nightly-1"})
	for _, row := range []struct {
		before, between int // records before the Job's first one, and between it and its due time
		entry           bool
	}{
		{0, 0, true}, {0, mostBehind - 1, true}, {0, mostBehind, true}, {0, mostBehind + 1, false}, {mostBehind, mostBehind, true},
	} {
		var facts []events.Facts
		version := func(n int) {
			for range n {
				facts = append(facts, &events.CronJobSeen{Version: uint64(len(facts) + 1), Schedule: "0 * * * *"})
			}
		}
		version(1 + row.before)
		facts = append(facts, decided(hourly("01:00")))
		version(1)
		near := events.Sequence(len(facts) + 1)
		facts = append(facts, run)
		version(row.between - 1)
		src := history.Local{Log: logOf(t, append(facts, entry)...)}
		c, e, got, err := OfJob(t.Context(), src, nightly, "uid-run", near)
		if err != nil || c == nil || got == nil || (e != nil) != row.entry {
			t.Errorf("%+v: entry %v, run %v, %v", row, e, got, err)
		}
		if _, e, got, err := OfJob(t.Context(), src, nightly, "uid-other", near); e != nil || got != nil || err != nil {
			t.Errorf("%+v: of another Job: entry %v, run %v, %v", row, e, got, err)
		}
	}
	if _, _, _, err := OfJob(t.Context(), history.Local{Log: logOf(t)}, nightly, "uid-run", 1); !errors.Is(err, history.ErrNoCronJob) {
		t.Errorf("of no CronJob: %v", err)
	}
}
