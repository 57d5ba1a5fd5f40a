package cron

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/ticks"
)

// TestFatesHaveOneNumber: an outcome of a due time (its fate) has the same number in package ticks and in the record.
func TestFatesHaveOneNumber(t *testing.T) {
	for of, is := range map[ticks.Fate]events.TickFate{
		ticks.Started: events.TickStarted, ticks.Merged: events.TickMerged, ticks.TooLate: events.TickTooLate, ticks.Refused: events.TickRefused,
		ticks.Lost: events.TickLost, ticks.Unwatched: events.TickUnwatched, ticks.Deleted: events.TickDeleted, ticks.Replaced: events.TickReplaced,
		ticks.Again: events.TickAgain,
	} {
		if events.TickFate(of) != is {
			t.Errorf("%s is %d, and %d in a record", of, of, is)
		}
	}
	for of, is := range map[ticks.Hold]events.TickHold{
		ticks.NotHeld: events.NotHeld, ticks.Forbid: events.HeldForbid, ticks.Suspended: events.HeldSuspended, ticks.BadZone: events.HeldBadZone,
		ticks.NoCreate: events.HeldNoCreate,
	} {
		if events.TickHold(of) != is {
			t.Errorf("the hold %d is %d in a record", of, is)
		}
	}
}
