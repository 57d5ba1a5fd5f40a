package fates

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestAMessageIsQuotedWholeBesideItsBeginning: each sentence has both, whichever is asked for first, and how often.
func TestAMessageIsQuotedWholeBesideItsBeginning(t *testing.T) {
	long := strings.Repeat("no room here. ", 60)
	f := &Fates{Due: &duetimes.CronJob{Refusals: []duetimes.Refusal{{Due: whentest.Sec(60), Class: events.RefusedQuota,
		Says: long}}}}
	e := whentest.Entry(60, 60, events.TickTooLate, nil)
	for range 2 {
		s := f.Fate(&e)
		if !strings.Contains(s.Whole, strings.TrimSpace(long)) || len(s.Text) > len(long)/2 ||
			!strings.Contains(s.Text, "no room here") {
			t.Errorf("%q\nand whole\n%q", s.Text, s.Whole)
		}
		if text, _ := f.Became(&e); !strings.HasSuffix(s.Text, text) {
			t.Errorf("by itself it is %q", text)
		}
	}
	p, _ := f.InWhole(func() (string, []explain.Mark) { return "short", nil })
	if p.Cut != p.Whole || p.Cut != "short" {
		t.Errorf("a short text is %+v", p)
	}
}

// TestADueTimeWhoseJobWasRefused: by a hold of that very due time, for that very reason.
func TestADueTimeWhoseJobWasRefused(t *testing.T) {
	for _, row := range []struct {
		due  float64
		by   events.TickHold
		want bool
	}{{60, events.HeldNoCreate, true}, {61, events.HeldNoCreate, false}, {60, events.HeldForbid, false}} {
		f := &Fates{Due: &duetimes.CronJob{Holds: []duetimes.Hold{{Due: whentest.Sec(1), By: events.HeldForbid},
			{Due: whentest.Sec(row.due), By: row.by}}}}
		if got := f.Refused(whentest.Sec(60)); got != row.want {
			t.Errorf("%+v: %t", row, got)
		}
	}
}
