package history_test

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// TestSinceWhenADueTimeIsHeldBack: a refused start is tried again and again, and each try tells the hold once more.
// Where no list knows the CronJob, its records are looked at from the newest back: the hold began with the first of
// them. Of one that began before those, nothing says when.
func TestSinceWhenADueTimeIsHeldBack(t *testing.T) {
	at := func(minute int) events.Time { return events.At(time.Date(2026, 3, 2, 9, minute, 0, 0, time.UTC)) }
	told := func(minute int, l *events.TickLedger, ticks ...events.Tick) events.Record {
		return events.Record{
			Header: events.Header{Sequence: events.Sequence(minute), Previous: events.Sequence(minute - 1), Time: at(minute), Kind: events.KindDecided},
			Facts:  &events.Decision{Steps: []events.Step{{Cron: &events.CronStep{Ledger: l, Ticks: ticks}}}},
		}
	}
	refused := func(due int) *events.TickLedger { return &events.TickLedger{Open: at(due), Hold: events.HeldNoCreate} }
	forbid := func(due int) *events.TickLedger { return &events.TickLedger{Open: at(due), Hold: events.HeldForbid} }
	free := &events.TickLedger{}
	started := events.Tick{First: at(1), Last: at(1), Fate: events.TickStarted}
	for _, row := range []struct {
		name    string
		records []events.Record // the oldest first
		since   int             // a minute; 0 for unknown or not held back
		whole   bool
	}{
		{"tried again and again", []events.Record{told(1, free, started), told(5, refused(5)), told(6, refused(5)), told(7, refused(5))}, 5, true},
		{"for another reason before", []events.Record{told(1, free, started), told(5, forbid(5)), told(6, refused(5)), told(7, refused(5))}, 6, true},
		{"another due time before", []events.Record{told(1, free, started), told(5, refused(5)), told(6, refused(6)), told(7, refused(6))}, 6, true},
		{"over by now", []events.Record{told(5, refused(5)), told(6, free, started)}, 0, true},
		{"since before the records", []events.Record{told(6, refused(5)), told(7, refused(5))}, 0, false},
		{"from its beginning", []events.Record{told(1, refused(1)), told(2, refused(1))}, 1, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			var s history.CronSummary
			m := history.Memory{Of: &s}
			whole := false
			for i := len(row.records) - 1; i >= 0 && !whole; i-- {
				whole = m.Take(&row.records[i])
			}
			m.End()
			var since, record int
			if s.Due != nil && s.Due.Since != 0 {
				since, record = events.Time(s.Due.Since).Go().Minute(), int(s.Due.Record)
			}
			if since != row.since || record != row.since || whole != row.whole {
				t.Errorf("held back since %d, by record %d, want %d; nothing is missing: %t", since, record, row.since, whole)
			}
			if s.Due != nil && s.Due.Since != 0 && (s.Due.Hold == "" || s.Due.At == recordjson.Instant(0)) {
				t.Errorf("it does not say what is held back: %+v", s.Due)
			}
		})
	}
}
