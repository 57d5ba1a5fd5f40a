package history

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/projector"
)

// clockAt is an instant of 2 March 2026, such as "08:01:30".
func clockAt(t *testing.T, text string) events.Time {
	t.Helper()
	at, err := time.Parse(time.DateTime+".999", "2026-03-02 "+text)
	if err != nil {
		t.Fatal(err)
	}
	return events.At(at)
}

// TestWhatAnOpenDueTimeMeans: of a CronJob that is due each minute and whose due times through 08:00 have a fate. Where
// another controller runs it, a due time is late after five seconds or its deadline, or as soon as the next one comes;
// ours has a minute more to decide.
func TestWhatAnOpenDueTimeMeans(t *testing.T) {
	byRecord := &OpenDue{At: recordjson.Instant(clockAt(t, "08:01:00")), Says: "a record says so"}
	another := words.WaitText(events.NotHeld)
	forbid := words.WaitText(events.HeldForbid)
	row := func(managed bool, change func(p *passing)) passing {
		p := passing{
			timing: Timing{Schedule: "* * * * *"}, through: clockAt(t, "08:00:00"), managed: managed, state: CronWaiting,
			reason: "before",
		}
		if change != nil {
			change(&p)
		}
		return p
	}
	listing := func(p *passing) { p.listing = true }
	held := func(p *passing) { p.hold = events.HeldForbid }
	short := func(p *passing) { p.deadline = new(int64(2)) }
	recorded := func(p *passing) { p.open = byRecord }
	in := func(s CronState) func(p *passing) { return func(p *passing) { p.state = s } }
	both := func(all ...func(p *passing)) func(p *passing) {
		return func(p *passing) {
			for _, f := range all {
				f(p)
			}
		}
	}
	for _, x := range []struct {
		p           passing
		now         string
		state       CronState
		reason      string
		first, open string // the first and the last open due time; empty for none, or the same
	}{
		{row(false, nil), "08:00:59.999", CronWaiting, "before", "", ""},
		{row(false, nil), "08:01:00", CronWaiting, "before", "", "08:01:00"},
		{row(false, nil), "08:01:04.999", CronWaiting, "before", "", "08:01:00"},
		{row(false, nil), "08:01:05", CronOverdue, another, "", "08:01:00"},
		{row(false, short), "08:01:01.999", CronWaiting, "before", "", "08:01:00"},
		{row(false, short), "08:01:02", CronOverdue, another, "", "08:01:00"},
		{row(false, nil), "08:02:00", CronOverdue, another, "08:01:00", "08:02:00"},
		{row(false, held), "08:01:00", CronHeld, forbid, "", "08:01:00"},
		{row(false, held), "08:03:00", CronHeld, forbid, "08:01:00", "08:03:00"},
		{row(false, listing), "08:03:00", CronWaiting, "before", "", ""},
		{row(false, both(listing, recorded)), "08:03:00", CronWaiting, "before", "", ""},
		{row(false, recorded), "08:01:04", CronWaiting, "before", "", "08:01:00"},
		{row(false, recorded), "08:02:01", CronOverdue, another, "08:01:00", "08:02:00"},
		{row(false, in(CronSuspended)), "08:03:00", CronSuspended, "before", "08:01:00", "08:03:00"},
		{row(false, in(CronDeleting)), "08:03:00", CronDeleting, "before", "08:01:00", "08:03:00"},
		{row(false, both(held, in(CronDeleting))), "08:03:00", CronDeleting, "before", "08:01:00", "08:03:00"},
		{row(false, in(CronRunning)), "08:01:05", CronOverdue, another, "", "08:01:00"},
		{row(false, in(CronDeleted)), "08:03:00", CronDeleted, "before", "", ""},
		{row(false, in(CronUnseen)), "08:03:00", CronUnseen, "before", "", ""},
		{row(false, in(CronInvalid)), "08:03:00", CronInvalid, "before", "", ""},
		{row(false, func(p *passing) { p.timing.Schedule = "x" }), "08:03:00", CronWaiting, "before", "", ""},
		{row(true, nil), "08:00:59", CronWaiting, "before", "", ""},
		{row(true, nil), "08:01:30", CronWaiting, "before", "", "08:01:00"},
		{row(true, nil), "08:02:04.999", CronWaiting, "before", "08:01:00", "08:02:00"},
		{row(true, nil), "08:02:05", CronOverdue, words.Undecided, "08:01:00", "08:02:00"},
		{row(true, short), "08:02:01.999", CronWaiting, "before", "08:01:00", "08:02:00"},
		{row(true, short), "08:02:02", CronOverdue, words.Undecided, "08:01:00", "08:02:00"},
		{row(true, listing), "08:02:05", CronOverdue, words.Undecided, "08:01:00", "08:02:00"},
		{row(true, recorded), "08:01:04.999", CronWaiting, "before", "", "08:01:00"},
		{row(true, recorded), "08:01:05", CronOverdue, byRecord.Says, "", "08:01:00"},
		{row(true, both(recorded, func(p *passing) { p.deadline = new(int64(90)) })), "08:02:10", CronOverdue, byRecord.Says, "", "08:01:00"},
		{row(true, func(p *passing) {
			p.open = &OpenDue{At: byRecord.At, First: recordjson.Instant(clockAt(t, "07:59:00")), Says: "held"}
		}), "08:01:04",
			CronWaiting, "before", "07:59:00", "08:01:00"},
		{row(true, both(recorded, func(p *passing) { p.through = clockAt(t, "07:30:00") })), "08:01:04", CronWaiting, "before", "", "08:01:00"},
		{row(true, func(p *passing) { p.open = &OpenDue{At: byRecord.At, Says: "held"}; p.timing.Schedule = "@every 1s" }), "08:01:04", CronWaiting, "before", "", "08:01:00"},
		{row(true, both(recorded, short)), "08:01:02", CronOverdue, byRecord.Says, "", "08:01:00"},
		{row(true, both(recorded, in(CronHeld))), "08:03:00", CronHeld, "before", "", "08:01:00"},
		{row(true, both(recorded, in(CronSuspended))), "08:03:00", CronSuspended, "before", "", "08:01:00"},
		{row(true, in(CronSuspended)), "08:03:00", CronSuspended, "before", "08:01:00", "08:03:00"},
	} {
		state, reason, open := x.p.at(&ZoneRules{}, clockAt(t, x.now))
		var want OpenDue
		if x.open != "" {
			want.At = recordjson.Instant(clockAt(t, x.open))
		}
		if x.first != "" {
			want.First = recordjson.Instant(clockAt(t, x.first))
		}
		var got OpenDue
		if open != nil {
			got.At, got.First = open.At, open.First
		}
		if state != x.state || reason != x.reason || got != want {
			t.Errorf("ours: %t, %s, at %s: %s (%s), open %v-%v, want %+v", x.p.managed, x.p.state, x.now, state, reason,
				got.First, got.At, x)
		}
		if open != nil && state == CronSuspended && x.p.managed && x.p.open == nil &&
			open.Hold != events.HeldSuspended.String() {
			t.Errorf("suspended, and held by %q", open.Hold)
		}
	}
}

// TestAListingThatHasNotEnded: of Jobs or CronJobs, and not of other resources; of several in a row the first counts.
func TestAListingThatHasNotEnded(t *testing.T) {
	list := func(of ...events.Resource) *events.ListingStarted { return &events.ListingStarted{Resources: of} }
	done := func(of ...events.Resource) *events.Synced { return &events.Synced{Resources: of} }
	jobs, crons, both := list(events.Jobs), list(events.CronJobs), list(events.Jobs, events.CronJobs)
	for i, row := range []struct {
		all  []events.Facts // in the order of the log
		want *events.ListingStarted
	}{
		{nil, nil}, {[]events.Facts{jobs}, jobs}, {[]events.Facts{crons}, crons}, {[]events.Facts{list(events.Pods)}, nil},
		{[]events.Facts{jobs, done(events.Jobs)}, nil}, {[]events.Facts{both, done(events.Jobs)}, both},
		{[]events.Facts{both, done(events.Jobs), done(events.CronJobs)}, nil},
		{[]events.Facts{both, done(events.Pods)}, both},
		{[]events.Facts{done(events.Jobs), jobs}, jobs}, {[]events.Facts{jobs, crons}, jobs},
		{[]events.Facts{jobs, crons, done(events.Jobs)}, crons}, {[]events.Facts{jobs, list(events.Pods)}, jobs},
		{[]events.Facts{jobs, done(events.Jobs), crons}, crons},
	} {
		var u Unlisted
		for k := len(row.all) - 1; k >= 0; k-- {
			u.Take(&events.Record{Facts: row.all[k]})
		}
		if u.Listing != row.want {
			t.Errorf("row %d: %+v, want %+v", i, u.Listing, row.want)
		}
	}
}

// TestWhatWasKnownWhenAListBegan: a gap keeps how the run before ended, from the first of its listings on, to the last
// resource that is listed.
func TestWhatWasKnownWhenAListBegan(t *testing.T) {
	for _, orderly := range []bool{true, false} {
		var g Gaps
		rec := func(n events.Sequence, f events.Facts) *events.Record {
			return &events.Record{Header: events.Header{Sequence: n, Time: events.Time(n * 100)}, Facts: f}
		}
		first := g.Learn(rec(5, &events.ListingStarted{
			Reason: events.ListingStart, Orderly: orderly, LastSeen: 30, Resources: []events.Resource{events.Jobs, events.Pods},
		}))
		again := g.Learn(rec(6, &events.ListingStarted{Reason: events.ListingGap, LastSeen: 40,
			Resources: []events.Resource{events.CronJobs}}))
		if first == nil || again != first || first.Orderly != orderly || first.From != 30 || first.Listing != 5 ||
			first.Reason != events.ListingStart.String() {
			t.Fatalf("%+v, %+v", first, again)
		}
		for n, of := range []events.Resource{events.Jobs, events.CronJobs, events.Pods} {
			if first.Until != 0 || first.Synced != 0 {
				t.Errorf("it ends before %v are listed", of)
			}
			g.Learn(rec(events.Sequence(7+n), &events.Synced{Resources: []events.Resource{of}}))
		}
		if first.Until != 900 || first.Synced != 9 {
			t.Errorf("it ends %+v", first)
		}
		if next := g.Learn(rec(10, &events.ListingStarted{Resources: []events.Resource{events.Jobs}})); next == nil ||
			next == first {
			t.Errorf("the next one is %+v", next)
		}
	}
}

// TestWhenADeletionWasAskedFor: the exact time comes before a bound, and of two of a kind the earlier.
func TestWhenADeletionWasAskedFor(t *testing.T) {
	const uid = types.UID("a")
	exact := func(asked events.Time) *events.PodSeen {
		return &events.PodSeen{UID: uid, Deleted: asked.Add(30 * time.Second), DeletionGracePeriodSeconds: new(int64(30))}
	}
	bound := func(until events.Time) *events.PodSeen { return &events.PodSeen{UID: uid, Deleted: until} }
	at := func(n int) events.Time { return events.At(time.Date(2026, 3, 2, 8, 0, n, 0, time.UTC)) }
	for _, row := range []struct {
		all   []*events.PodSeen // seen in second 50, 51, …
		asked int               // 0 for never
		exact bool
	}{
		{nil, 0, false}, {[]*events.PodSeen{{UID: uid}}, 0, false}, {[]*events.PodSeen{exact(at(40))}, 40, true},
		{[]*events.PodSeen{bound(at(45))}, 45, false}, {[]*events.PodSeen{bound(at(59))}, 50, false},
		{[]*events.PodSeen{bound(at(45)), exact(at(47))}, 47, true},
		{[]*events.PodSeen{exact(at(47)), bound(at(45))}, 47, true},
		{[]*events.PodSeen{exact(at(47)), exact(at(44))}, 44, true},
		{[]*events.PodSeen{exact(at(44)), exact(at(47))}, 44, true},
		{[]*events.PodSeen{bound(at(45)), bound(at(43))}, 43, false},
		{[]*events.PodSeen{bound(at(43)), bound(at(45))}, 43, false},
		{[]*events.PodSeen{{UID: uid}, exact(at(44)), {UID: uid}}, 44, true},
	} {
		a := &Account{}
		for i, f := range row.all {
			a.notePod(&events.Record{Header: events.Header{Time: at(50 + i)}, Facts: f})
		}
		a.notePod(&events.Record{Facts: &events.PodGone{UID: uid}})
		if len(row.all) == 0 {
			if len(a.pods) > 0 {
				t.Errorf("without a pod: %v", a.pods)
			}
			continue
		}
		want := events.Time(0)
		if row.asked != 0 {
			want = at(row.asked)
		}
		if n := a.pods[uid]; n.asked != want || n.exact != row.exact {
			t.Errorf("%+v: asked for at %s, exact: %t", row, n.asked.Go(), n.exact)
		}
	}
}

// TestWhatACronJobWaitsFor: until a due time that is open is too late by its deadline.
func TestWhatACronJobWaitsFor(t *testing.T) {
	c := &projector.CronJob{}
	for _, row := range []struct {
		open, now string
		closed    bool
		deadline  *int64
		want      int
	}{
		{"08:01:00", "08:01:01", false, new(int64(2)), 1}, {"08:01:00", "08:01:02", false, new(int64(2)), 0},
		{"08:01:00", "08:01:01", true, new(int64(2)), 0},
		{"08:01:00", "08:01:01", false, nil, 0}, {"", "08:01:01", false, new(int64(2)), 0},
	} {
		c.Ledger, c.Seen.Deadline = events.TickLedger{Closed: row.closed}, row.deadline
		if row.open != "" {
			c.Ledger.Open = clockAt(t, row.open)
		}
		all := (&CronAccount{job: c}).waits(c, clockAt(t, row.now))
		if len(all) != row.want || row.want == 1 && all[0].Until != recordjson.Instant(clockAt(t, "08:01:02")) {
			t.Errorf("%+v: %+v", row, all)
		}
	}
}
