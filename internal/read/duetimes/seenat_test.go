package duetimes

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestSeenAt: how a CronJob was at an instant, though changes between what was read around it and what it is now were
// not read.
func TestSeenAt(t *testing.T) {
	at := func(clock string) events.Time { return events.At(moment(clock)) }
	spec := func(schedule string) *events.CronJobSeen { return &events.CronJobSeen{Schedule: schedule} }
	change := func(clock, before, after string) Change {
		return Change{Before: spec(before), After: spec(after), At: at(clock)}
	}
	whole := &CronJob{Seen: spec("c"), now: at("12:00"), Changes: []Change{change("09:00", "a", "b"), change("11:00", "b", "c")}}
	// Changes from b to x at 09:50 and from y to z at 10:30 were not read.
	around := &CronJob{
		Seen: spec("z"), now: at("12:00"), then: spec("b"), thenAt: at("09:30"), Changes: []Change{change("09:00", "a", "b"), change("11:00", "y", "z")},
	}
	for _, row := range []struct {
		of          *CronJob
		clock, want string
	}{
		{whole, "08:00", "a"}, {whole, "09:00", "b"}, {whole, "10:59", "b"}, {whole, "11:00", "c"}, {whole, "12:30", "c"},
		{around, "08:00", "a"}, {around, "09:10", "b"}, {around, "09:30", "b"}, {around, "10:50", "y"}, {around, "11:30", "z"},
	} {
		if got := row.of.SeenAt(at(row.clock)); got.Schedule != row.want {
			t.Errorf("at %s it was %q, want %q", row.clock, got.Schedule, row.want)
		}
	}
	if got := (&CronJob{}).SeenAt(at("09:00")); got != nil {
		t.Errorf("one that was not seen was %v", got)
	}
}
