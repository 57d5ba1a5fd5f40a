package duetimes

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/subject/zones"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// TestWhatAnEditMeansForAnInstant: at the moment of an edit the schedule of before has its last due time, and the new
// one has its first behind it. A schedule that cannot be read has none, and of @every nobody knows.
func TestWhatAnEditMeansForAnInstant(t *testing.T) {
	spec := func(schedule string) *events.CronJobSeen { return &events.CronJobSeen{Schedule: schedule} }
	edited := func(clock, before, after string) *CronJob {
		return &CronJob{Seen: spec(after), now: events.At(moment("12:00")), Changes: []Change{
			{Before: spec(before), After: spec(after), At: events.At(moment(clock)), Record: 7},
		}}
	}
	for _, row := range []struct {
		c           *CronJob
		instant     string
		next        string // the first due time after it
		was, became bool
	}{
		{edited("09:00", "0 * * * *", "30 * * * *"), "08:30", "09:00", false, true},
		{edited("08:59", "0 * * * *", "30 * * * *"), "08:30", "09:30", false, true},
		{edited("09:00", "0 * * * *", "30 * * * *"), "09:00", "09:30", true, false},
		{edited("09:00", "0 * * * *", "0 10 * * *"), "08:59", "09:00", false, false},
		{edited("09:30", "0 * * * *", "30 * * * *"), "09:30", "10:30", false, false},
		{edited("09:31", "0 * * * *", "30 * * * *"), "09:30", "10:30", false, true},
		{edited("09:00", "30 * * * *", "30 * * * *"), "09:30", "10:30", false, false},
		{edited("09:00", "often", "30 * * * *"), "08:00", "09:30", false, false},
		{edited("09:00", "@every 1h", "30 * * * *"), "09:00", "09:30", false, false},
		{edited("09:00", "0 * * * *", "often"), "09:00", "", true, false},
	} {
		at, what := moment(row.instant), row.c.Changes[0]
		next := ""
		if due := row.c.nextAfter(at); !due.IsZero() {
			next = due.Format("15:04")
		}
		if was, became := row.c.WasOne(at) != nil, row.c.BecameOne(at) != nil; next != row.next || was != row.was || became != row.became {
			t.Errorf("%s to %s at %s, of %s: next %q, it was one: %t, became one: %t, want %+v", what.Before.Schedule, what.After.Schedule,
				what.At.Go().Format("15:04"), row.instant, next, was, became, row)
		}
	}
}

// TestWhoStartsADueTimeThatIsOver: ours is passed and has no fate, and so it is as long as the CronJob exists and its
// due times are counted by the schedule that it has; another controller's may start yet.
func TestWhoStartsADueTimeThatIsOver(t *testing.T) {
	seen := &events.CronJobSeen{Schedule: "0 * * * *"}
	open := hourly("06:00")
	open.Open, open.Hold = events.At(moment("07:00")), events.HeldForbid
	said := func(c *CronJob, clock string) string {
		v := c.At(moment(clock))
		text := fmt.Sprintf("open %t, future %t, passed %t", v.Open, v.Future, v.Passed)
		if v.Entry != nil {
			text += fmt.Sprintf(", %d #%d", v.Entry.Fate, v.Entry.Record)
		}
		return text
	}
	for _, row := range []struct {
		what, clock string
		c           *CronJob
		want        string
	}{
		{"ours", "08:00", told(t, seen, decided(hourly("01:00"))), "open false, future true, passed true"},
		{"another's", "08:00", elsewhere(told(t, seen, decided(hourly("01:00")))), "open true, future false, passed false, 0 #0"},
		{"another's, before the last", "07:00", elsewhere(told(t, seen, decided(hourly("01:00")))), "open false, future false, passed false, 0 #0"},
		{"ours is open", "07:00", told(t, seen, decided(open)), "open true, future false, passed false"},
		{"it is gone while one is open", "07:00", told(t, seen, decided(open), &events.CronJobGone{}), "open false, future false, passed false, 7 #0"},
		{"it is gone", "08:00", told(t, seen, decided(hourly("08:00")), &events.CronJobGone{}), "open false, future false, passed false"},
		{"nothing was counted", "05:00", told(t, seen, decided(&events.TickLedger{Schedule: "0 * * * *"})), "open false, future false, passed false"},
		{"the schedule was edited now", "08:00", told(t, seen, decided(hourly("01:00")), &events.CronJobSeen{Schedule: "30 * * * *"}), "open false, future false, passed false, 8 #0"},
	} {
		if got := said(row.c, row.clock); got != row.want {
			t.Errorf("%s: %s, want %s", row.what, got, row.want)
		}
	}
}

func elsewhere(c *CronJob) *CronJob {
	c.Elsewhere, c.untold = true, nil
	return c
}

// TestWhichRunsWereAskedFor: those made by hand or by the annotation, and those that somebody is named for.
func TestWhichRunsWereAskedFor(t *testing.T) {
	for fate := events.TickStarted; fate <= events.TickUnknown; fate++ {
		e := Entry{Tick: events.Tick{Fate: fate}}
		if want := fate == events.TickManual || fate == events.TickTriggered; e.Asked() != want {
			t.Errorf("%s was asked for: %t", fate, e.Asked())
		}
		if e.By = "kubectl"; !e.Asked() {
			t.Errorf("%s by kubectl was not asked for", fate)
		}
	}
}

// TestWhatRunsNow: the unfinished Jobs that the status names, as it names them; without one, those that were seen
// running, in the order of their names.
func TestWhatRunsNow(t *testing.T) {
	run := func(name string, result events.JobResult) *events.RunSeen {
		return &events.RunSeen{Job: types.UID("uid-" + name), Name: name, Result: result}
	}
	c := &CronJob{Seen: &events.CronJobSeen{Active: []events.RunName{{Name: "z", UID: "uid-z"}, {Name: "y", UID: "uid-y"}, {Name: "x", UID: "uid-x"}}}}
	for _, r := range []*events.RunSeen{run("e", 0), run("d", 0), run("c", events.ResultFailed), run("b", 0), run("a", 0), run("y", events.ResultComplete)} {
		c.kept.seen(r)
	}
	for range 8 { // the order of a map differs
		if got := strings.Join(c.active(), " "); got != "z x" {
			t.Errorf("%s run", got)
		}
	}
	c.Seen.Active = c.Seen.Active[1:2]
	for range 8 {
		if got := strings.Join(c.active(), " "); got != "a b d e" {
			t.Errorf("%s run, and the status names none", got)
		}
	}
}

// TestTheOrderOfWhatKept: spans that begin with one record are in the order of their Jobs; those of an answer begin one
// after the other, whenever they were recorded. A span that ends at an instant does not keep it.
func TestTheOrderOfWhatKept(t *testing.T) {
	for range 8 { // the order of a map differs
		var k keeping
		keeps := map[types.UID]Kept{"": {By: events.HeldSuspended}}
		for _, uid := range []types.UID{"c", "a", "d", "b"} {
			keeps[uid] = Kept{By: events.HeldForbid, uid: uid, Job: string(uid)}
		}
		k.change(keeps, Place{Record: 3})
		got := ""
		for _, s := range k.spans {
			got += s.Job + "."
		}
		if got != "a.b.c.d.." {
			t.Errorf("they begin as %s", got)
		}
	}
	at := func(clock string) events.Time { return events.At(moment(clock)) }
	c := &CronJob{now: at("12:00"), kept: keeping{spans: []Kept{
		{By: events.HeldForbid, Job: "late", From: at("09:30")}, {By: events.HeldForbid, Job: "early", From: at("08:00"), Until: at("09:40")},
	}}}
	if all, whole := c.Kept(at("09:00"), at("10:00")); len(all) != 2 || all[0].Job != "early" || !whole {
		t.Errorf("%+v, the whole: %t", all, whole)
	}
	c.kept.spans = []Kept{{From: at("08:00"), Until: at("09:00")}}
	if got := c.free(at("09:00")); got != at("09:00") {
		t.Errorf("free at %s", got.Go())
	}
	if all, _ := c.Kept(at("09:00"), at("10:00")); len(all) > 0 {
		t.Errorf("kept by %+v", all)
	}
}

// TestAClockThatWasSetBack: the fate of a due time is told before the due time by the log's clock. It is found all the
// same, and so is that of one that is told at its very time.
func TestAClockThatWasSetBack(t *testing.T) {
	state, err := proto.Marshal(&pb.JobState{CronJob: &pb.CronJobState{
		Facts: events.CronJobToWire(&events.CronJobSeen{Schedule: "0 * * * *"}), Ledger: events.LedgerToWire(hourly("10:00")),
	}})
	if err != nil {
		t.Fatal(err)
	}
	started := func(clock string) *events.Decision {
		due := events.At(moment(clock))
		return decided(hourly(clock), events.Tick{First: due, Last: due, Fate: events.TickStarted})
	}
	src := history.Local{Log: logAt(t, []string{"08:30", "09:00", "09:10", "09:20", "09:30", "10:30", "11:00"},
		&events.CronJobSeen{Schedule: "0 * * * *"}, started("09:00"), started("10:00"), // the clock is an hour and more ahead
		&events.StoredState{Encoded: state}, &events.CronJobSeen{Schedule: "0 * * * *", Suspend: true},
		&events.CronJobSeen{Schedule: "0 * * * *"}, started("11:00"),
	)}
	whole, err := Read(t.Context(), src, nightly)
	if err != nil {
		t.Fatal(err)
	}
	for _, clock := range []string{"09:00", "10:00", "11:00"} {
		at := moment(clock)
		want := whole.At(at)
		around, err := Around(t.Context(), src, nightly, events.At(at))
		if err != nil {
			t.Fatal(err)
		}
		since, err := Since(t.Context(), src, nightly, events.At(at))
		if err != nil {
			t.Fatal(err)
		}
		for what, got := range map[string]Verdict{"around it": around.At(at), "since it": since.At(at)} {
			if want.Entry == nil || got.Entry == nil || got.Entry.Record != want.Entry.Record {
				t.Errorf("%s, %s: %+v, want %+v", clock, what, got, want)
			}
		}
		if n := len(around.Changes); n > len(whole.Changes) {
			t.Errorf("around %s there are %d changes, want at most %d", clock, n, len(whole.Changes))
		}
	}
}

// TestWhatWasNotReadIsNotComputed: of a part that ends with what was looked for, nothing is said of the due times since.
// An instant before what was first seen is none of before, if the part does not begin with it.
func TestWhatWasNotReadIsNotComputed(t *testing.T) {
	due := events.At(moment("02:00"))
	entry := decided(hourly("02:00"), events.Tick{First: due, Last: due, Fate: events.TickStarted, Job: "uid-run", Name: "nightly-1"})
	seen := &events.CronJobSeen{Schedule: "0 * * * *", Created: events.At(moment("01:00")), LastSchedule: events.At(moment("02:00"))}
	src := history.Local{Log: logOf(t, seen, entry)}
	c, e, _, err := OfJob(t.Context(), src, nightly, "uid-run", 2)
	if err != nil || e == nil || len(c.Untold()) > 0 {
		t.Errorf("%+v, and %d due times are computed: %v", e, len(c.Untold()), err)
	}
	whole, err := Read(t.Context(), src, nightly)
	if err != nil || len(whole.Untold()) == 0 {
		t.Errorf("of the whole nothing is computed: %v", err)
	}
	if is, first := whole.Before(events.At(moment("01:30"))); !is || first.Record != 2 {
		t.Errorf("before what was first seen: %t, record %d", is, first.Record)
	}
	whole.Told = due
	if is, first := whole.Before(events.At(moment("01:30"))); is || first.Record != 0 {
		t.Errorf("of a part, before what was first seen: %t, record %d", is, first.Record)
	}
}

// TestASuspensionThatBeganBeforeAState: the state says that it was so, and not since when. The records of before do.
func TestASuspensionThatBeganBeforeAState(t *testing.T) {
	suspended := &events.CronJobSeen{Schedule: "0 * * * *", Suspend: true}
	state, err := proto.Marshal(&pb.JobState{CronJob: &pb.CronJobState{Facts: events.CronJobToWire(suspended)}})
	if err != nil {
		t.Fatal(err)
	}
	src := history.Local{Log: logAt(t, []string{"08:30", "09:10"}, suspended, &events.StoredState{Encoded: state})}
	for from, want := range map[events.Sequence]string{0: "from 08:30, before false, since record 2", 3: "from 09:10, before true, since record 0"} {
		c, err := ReadSpan(t.Context(), src, nightly, Span{From: from})
		if err != nil || len(c.kept.spans) != 1 {
			t.Fatal(c.kept.spans, err)
		}
		k, open := c.kept.spans[0], c.waiting(&Entry{})
		if got := fmt.Sprintf("from %s, before %t, since record %d", k.From.Go().Format("15:04"), k.Before, open.Record); got != want {
			t.Errorf("read from %d on: %s, want %s", from, got, want)
		}
	}
}

// TestHowFarChangesAreLookedBackFor is so many records before the first that was read.
func TestHowFarChangesAreLookedBackFor(t *testing.T) {
	for _, between := range []int{0, mostBack - 3, mostBack - 2, mostBack - 1, mostBack, mostBack + 5} {
		facts := []events.Facts{&events.CronJobSeen{Schedule: "0 * * * *"}, &events.CronJobSeen{Schedule: "30 * * * *"}}
		for i := range between {
			facts = append(facts, &events.CronJobSeen{Version: uint64(i), Schedule: "30 * * * *"})
		}
		facts = append(facts, decided(hourly("01:00")), &events.CronJobSeen{Schedule: "30 * * * *", Version: 9999})
		log := logOf(t, facts...)
		src := history.Local{Log: log}
		c, err := ReadSpan(t.Context(), src, nightly, Span{From: log.Head().Sequence})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.LookBack(t.Context(), src, nightly); err != nil || (len(c.Changes) == 1) != (between+4 <= mostBack) {
			t.Errorf("with %d records between, %d changes: %v", between, len(c.Changes), err)
		}
	}
}

// TestTheZoneOfASchedule is that of its rules; none is named for UTC, or for rules that are not known.
func TestTheZoneOfASchedule(t *testing.T) {
	rules, ok := zones.Find("Europe/Berlin")
	if !ok {
		t.Fatal("the program has no rules of Europe/Berlin")
	}
	of := func(name, hash string) *CronJob {
		c := &CronJob{Seen: &events.CronJobSeen{Schedule: "0 * * * *", TimeZone: &name, Zones: []events.ZoneName{{Name: name, Hash: hash}}}}
		if err := c.rules.Find(t.Context(), history.Local{Log: logOf(t)}, c.Seen.Zones...); err != nil {
			t.Fatal(err)
		}
		return c
	}
	if zone := of("Europe/Berlin", rules.Hash).Location(); zone == nil || zone.String() != "Europe/Berlin" {
		t.Errorf("the zone is %v", zone)
	}
	if zone := of("Moon/Tycho", "m").Location(); zone != nil {
		t.Errorf("the zone is %v, and its rules are not known", zone)
	}
}

// TestTimingsThatAreTheSame: by schedule, zone and rules of the zone.
func TestTimingsThatAreTheSame(t *testing.T) {
	berlin, paris := "Europe/Berlin", "Europe/Paris"
	by := func(schedule string, zone *string, rules string) events.TickLedger {
		return events.TickLedger{Schedule: schedule, TimeZone: zone, Zone: rules}
	}
	all := []events.TickLedger{
		by("@hourly", nil, ""), by("@daily", nil, ""), by("@hourly", &berlin, ""), by("@hourly", &paris, ""),
		by("@hourly", &berlin, "a"), by("@hourly", nil, "a"),
	}
	again := "Europe/Berlin"
	for i := range all {
		for k := range all {
			other := all[k]
			if other.TimeZone == &berlin {
				other.TimeZone = &again
			}
			if x := (timing{by: all[i]}); x.same(&other) != (i == k) {
				t.Errorf("%+v and %+v are the same: %t", all[i], other, i != k)
			}
		}
	}
}
