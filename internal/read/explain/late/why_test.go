package late

import (
	"errors"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// TestWhyItWasLate: something that was possible from second 40 on was done in second 60, with record 30. A gap of the
// watch or a time without a record explains that if no more than 3 s are left.
func TestWhyItWasLate(t *testing.T) {
	gap := func(from, until float64, reason events.ListingReason) []*history.Gap {
		g := &history.Gap{From: whentest.Recorded(from), Reason: reason.String(), Listing: 20, Synced: 21}
		if until != 0 {
			g.Until = whentest.Recorded(until)
		}
		return []*history.Gap{g}
	}
	const cut, away, room = "Jobledger's watch of the cluster was cut", "no Jobledger watched",
		"the log had no room, so that nothing was recorded,"
	record := func(n events.Sequence, at float64) events.Record {
		return whentest.Record(n, at, events.Controller, &events.TimerFired{})
	}
	for _, row := range []struct {
		name   string
		change func(c *jobcase.Case, l *lateness)
		log    []events.Record
		want   string
	}{
		{"a gap of just then", func(c *jobcase.Case, _ *lateness) { c.Gaps = gap(40, 60, events.ListingRelisted) }, nil,
			cut + " from 20:27:20 to 20:27:40"},
		{"one that began before", func(c *jobcase.Case, _ *lateness) { c.Gaps = gap(20, 60, events.ListingStart) }, nil,
			away + " from 20:27:00 to 20:27:40"},
		{"one that lasts", func(c *jobcase.Case, _ *lateness) { c.Gaps = gap(43, 0, events.ListingGap) }, nil,
			room + " from 20:27:23 to 20:27:40"},
		{"one that ended later", func(c *jobcase.Case, _ *lateness) { c.Gaps = gap(42, 80, events.ListingRelisted) }, nil,
			cut + " from 20:27:22 to 20:28:00"},
		{"one that began too late", func(c *jobcase.Case, _ *lateness) { c.Gaps = gap(43.1, 60, events.ListingRelisted) },
			nil, ""},
		{"one that began before, and ended too early",
			func(c *jobcase.Case, _ *lateness) { c.Gaps = gap(20, 56.9, events.ListingRelisted) }, nil, ""},
		{"one that ended early", func(c *jobcase.Case, _ *lateness) { c.Gaps = gap(20, 57, events.ListingRelisted) }, nil,
			cut + " from 20:27:00 to 20:27:37"},
		{"one without a beginning", func(c *jobcase.Case, _ *lateness) {
			c.Gaps = gap(40, 60, events.ListingRelisted)
			c.Gaps[0].From = 0
		}, nil, ""},
		{"the second of two", func(c *jobcase.Case, _ *lateness) {
			c.Gaps = append(gap(1, 2, events.ListingStart), gap(40, 60, events.ListingRelisted)...)
		}, nil, cut + " from 20:27:20 to 20:27:40"},
		{"nothing was late", func(c *jobcase.Case, l *lateness) {
			c.Gaps, l.from.At = gap(40, 60, events.ListingRelisted), whentest.Sec(50.1)
		}, nil, ""},
		{"10 s are late", func(c *jobcase.Case, l *lateness) {
			c.Gaps, l.from.At = gap(40, 60, events.ListingRelisted), whentest.Sec(50)
		}, nil, cut + " from 20:27:20 to 20:27:40"},
		{"since when is unknown", func(c *jobcase.Case, l *lateness) {
			c.Gaps,
				l.from.At = gap(40, 60, events.ListingRelisted), 0
		}, nil, ""},
		{"it was not done", func(c *jobcase.Case, l *lateness) {
			c.Gaps, l.to.Record = gap(40, 60, events.ListingRelisted),
				0
		}, nil, ""},
		{"the clock was set", func(c *jobcase.Case, _ *lateness) {
			c.Gaps, c.Steps = gap(40, 60, events.ListingRelisted), []jobcase.ClockStep{{Mark: whentest.Seen(25, 50), By: 5e9}}
		}, nil, ""},
		{"nothing was recorded", nil, []events.Record{record(29, 41)},
			"Jobledger recorded nothing from 20:27:21 to 20:27:40: it stood still, or the API server told it nothing"},
		{"nothing was recorded, by our clock alone", func(_ *jobcase.Case, l *lateness) { l.own = true },
			[]events.Record{record(29, 41)},
			"Jobledger stood still from 20:27:21 to 20:27:40, and recorded nothing"},
		{"other records of that very time", nil, []events.Record{record(27, 41), record(28, 60), record(29, 60)},
			"Jobledger recorded nothing from 20:27:21 to 20:27:40: it stood still, or the API server told it nothing"},
		{"the first record", func(_ *jobcase.Case, l *lateness) { l.to.Record = 1 }, nil, ""},
		{"the second record", func(_ *jobcase.Case, l *lateness) { l.to.Record = 2 }, []events.Record{record(1, 41)},
			"Jobledger recorded nothing from 20:27:21 to 20:27:40: it stood still, or the API server told it nothing"},
		{"something was recorded", nil, []events.Record{record(29, 43.1)}, ""},
		{"something was recorded, and it was ours to do", func(_ *jobcase.Case, l *lateness) { l.due = true },
			[]events.Record{record(29, 43.1)}, "Jobledger was behind: it recorded other things meanwhile"},
		{"a record before it is pruned", func(_ *jobcase.Case, l *lateness) { l.due = true },
			[]events.Record{record(27, 41)}, ""},
	} {
		c := lateCase(nil)
		c.Src = &whentest.Log{All: row.log}
		l := lateness{from: whentest.Seen(10, 40), to: whentest.Seen(30, 60)}
		if row.change != nil {
			row.change(c, &l)
		}
		why, from := whyLate(c, &l)
		if why != row.want || (len(from) > 0) != (why != "") {
			t.Errorf("%s: %q by %v, want %q", row.name, why, from, row.want)
		}
		s, is := lateText(c, &lateness{what: "it was done", after: "it was possible", from: l.from, to: l.to, own: l.own,
			due: l.due})
		if is != (row.want != "") || is && (!strings.HasPrefix(s.Text, "it was done ") ||
			!strings.HasSuffix(s.Text, " after it was possible: "+row.want)) {
			t.Errorf("%s: %q", row.name, s.Text)
		}
	}
}

// TestHowFarBackARecordIsLookedFor: to the 64th before, and not behind one that cannot be read.
func TestHowFarBackARecordIsLookedFor(t *testing.T) {
	denied := errors.New("denied")
	for name, row := range map[string]struct {
		same   int // records of the same instant that lie between
		bad    events.Sequence
		with   error
		want   bool
		failed bool
	}{
		"the 64th": {same: 63, want: true}, "the 65th": {same: 64}, "the first": {want: true},
		"denied": {same: 5, bad: 197, with: denied, failed: true}, "damaged": {same: 5, bad: 197, with: store.ErrCorrupt},
	} {
		all := []events.Record{}
		for n := range 199 {
			at := 60.0
			if n < 199-row.same {
				at = 50
			}
			all = append(all, whentest.Record(events.Sequence(n+1), at, events.Controller, &events.TimerFired{}))
		}
		c := &jobcase.Case{Misses: &explain.Misses{}, Src: &whentest.Log{All: all, Bad: row.bad, With: row.with}}
		m, is := recordBefore(c, whentest.Seen(200, 60))
		if is != row.want || is && m != whentest.Seen(events.Sequence(199-row.same), 50) ||
			(c.Unread() != nil) != row.failed {
			t.Errorf("%s: %v, %t, %v", name, m, is, c.Unread())
		}
	}
}
