package schedule_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/zones"
)

// TestNextIsThatOfTheLibrary: around each change of the clock of each zone the next instant is the one that the library
// finds, which goes from second to second, unless that is not after the one it was asked for (C-060, C-061).
func TestNextIsThatOfTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	texts := []string{"* * * * *", "*/7 * * * *", "0 0 * * *", "30 2 * * *", "15 1-3 * * 1-5", "0 10 */2 * 2,4", "59 23 31 12 *", "45 * 1 * *"}
	seen := map[string]bool{}
	compared := 0
	for _, name := range zones.Names() {
		rules, _ := zones.Find(name)
		if seen[rules.Hash] {
			continue
		}
		seen[rules.Hash] = true
		in, err := schedule.Load(name, rules.TZif)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2012, 1, 1, 0, 0, 0, 0, time.UTC).In(in)
		for at.Year() < 2040 {
			_, end := at.ZoneBounds()
			if end.IsZero() {
				break
			}
			if !end.After(at) { // on the last day of a leap year Go ends a zone where it began
				end = at.Add(48 * time.Hour)
			}
			at = end
			text := texts[random.IntN(len(texts))]
			ours, theirs := parsedIn(t, text, in)
			for range 6 {
				from := at.Add(time.Duration(random.Int64N(int64(4*time.Hour))) - 2*time.Hour)
				if random.IntN(2) == 0 {
					from = from.Truncate(time.Minute)
				}
				want := theirs.Next(from)
				if got := ours.Next(from); !got.Equal(want) && (want.IsZero() || want.After(from)) {
					t.Fatalf("%s: %q after %s is %s, and the library says %s", name, text, from, got, want)
				}
				compared++
			}
		}
	}
	t.Logf("%d instants", compared)
}

func parsedIn(t *testing.T, text string, in *time.Location) (schedule.Schedule, cron.Schedule) {
	t.Helper()
	ours, err := schedule.Parse(text, in, nil)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := cron.ParseStandard(text)
	if err != nil {
		t.Fatal(err)
	}
	theirs.(*cron.SpecSchedule).Location = in
	return ours, theirs
}

// The library does not come past a day that a zone skipped. Ours begins after all of those.
func TestADayThatWasSkipped(t *testing.T) {
	s := parsed(t, "0 10 * * fri", "Pacific/Apia")
	if next := s.Next(at(t, "2011-12-20T00:00:00Z")); !next.Equal(at(t, "2012-01-05T20:00:00Z")) {
		t.Errorf("due at %s", next)
	}
}

// Where midnight does not exist on a day, the library does not notice that it has come to that day: hours of it match
// by the weekday of the day before. The users of the built-in controller have it so, and so have ours: on that Friday
// this schedule of Thursdays is due.
func TestADayWithoutMidnight(t *testing.T) {
	s := parsed(t, "0 10 * * thu", "Africa/Cairo")
	from := at(t, "2026-04-22T00:00:00Z")
	for _, want := range []string{"2026-04-23T08:00:00Z", "2026-04-24T07:00:00Z", "2026-04-30T07:00:00Z"} {
		if from = s.Next(from); !from.Equal(at(t, want)) {
			t.Errorf("due at %s, want %s", from, want)
		}
	}
}
