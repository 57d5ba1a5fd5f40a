package zones_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/zones"
)

// Each change of the clock of each zone from 2000 to 2040: the schedules of the hours around it fire at each minute
// whose local time matches, and at no other (C-043, C-046, C-047). The library passes over some minutes where the clock
// changes by a part of an hour, or in the middle of one. It is kept; but ours always gets on: C-060.
func TestEveryTransition(t *testing.T) {
	seen := map[string]bool{}   // many names have the same rules
	done := map[[3]int64]bool{} // and many zones the same change: what comes of it depends on nothing else
	count, odd := 0, map[string]int{}
	for _, name := range zones.Names() {
		rules, ok := zones.Find(name)
		if !ok {
			t.Errorf("%s: no rules", name)
			continue
		}
		if seen[rules.Hash] {
			continue
		}
		seen[rules.Hash] = true
		in, err := time.LoadLocationFromTZData(name, rules.TZif)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, change := range transitions(in) {
			count++
			_, before := change.Add(-time.Second).Zone()
			_, after := change.Zone()
			if same := [3]int64{change.Unix(), int64(before), int64(after)}; !done[same] {
				done[same] = true
				if !around(t, in, change) {
					odd[name]++
				}
			}
		}
	}
	if want := (map[string]int{
		"America/Caracas": 2, "America/Goose_Bay": 23, "America/St_Johns": 23, "Antarctica/Casey": 11, "Asia/Bishkek": 11, "Asia/Colombo": 1,
		"Asia/Gaza": 2, "Asia/Pyongyang": 2, "Australia/LHI": 82, "NZ-CHAT": 82, "Pacific/Norfolk": 1,
	}); !maps.Equal(odd, want) {
		t.Errorf("minutes are passed over at changes of %v, want %v", odd, want)
	}
	if count < 5000 {
		t.Errorf("only %d changes were looked at", count)
	}
	t.Logf("%d changes, %d of them different, in %d zones", count, len(done), len(seen))
}

// transitions are the instants from 2000 to 2040 at which the zone's clock is changed.
func transitions(in *time.Location) (all []time.Time) {
	end := time.Date(2041, 1, 1, 0, 0, 0, 0, time.UTC)
	for at := time.Date(2000, 1, 1, 0, 0, 0, 0, in); at.Before(end); {
		_, next := at.ZoneBounds()
		switch {
		case next.IsZero():
			return all
		case !next.After(at): // on the last day of a leap year Go ends a zone where it began
			at = at.Add(48 * time.Hour)
			continue
		}
		_, before := next.Add(-time.Second).Zone()
		if _, after := next.Zone(); before != after && next.Before(end) {
			all = append(all, next)
		}
		at = next
	}
	return all
}

// around reports whether the instants of some schedules from three hours before a change to three hours after it
// are the minutes whose local time matches. Offsets are multiples of a quarter of an hour in those years.
func around(t *testing.T, in *time.Location, change time.Time) (exact bool) {
	exact = true
	from, to := change.Add(-3*time.Hour), change.Add(3*time.Hour)
	before, after := change.Add(-time.Second).In(in), change.In(in)
	for _, row := range []struct {
		text    string
		matches func(time.Time) bool
	}{
		{"0 0 * * *", func(l time.Time) bool { return l.Hour() == 0 && l.Minute() == 0 }},
		{"*/15 * * * *", func(time.Time) bool { return true }},
		pinned(before.Hour()), pinned(after.Hour()), pinned((before.Hour() + 1) % 24),
	} {
		s, err := schedule.Parse(row.text, in, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []time.Time
		for m := from.Truncate(15 * time.Minute).Add(15 * time.Minute); !m.After(to); m = m.Add(15 * time.Minute) {
			if row.matches(m.In(in)) {
				want = append(want, m.UTC())
			}
		}
		for m := range s.Between(from, to) {
			if len(got) > 0 && !m.After(got[len(got)-1]) {
				t.Fatalf("%s around %v: %q gives %v after %v", in, change, row.text, m, got[len(got)-1])
			}
			got = append(got, m)
		}
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			exact = false
		}
	}
	return exact
}

// pinned is a schedule of the quarters of one hour.
func pinned(hour int) (row struct {
	text    string
	matches func(time.Time) bool
}) {
	row.text = fmt.Sprintf("*/15 %d * * *", hour)
	row.matches = func(l time.Time) bool { return l.Hour() == hour }
	return row
}

// The database is that of the Go distribution with which the program is built: it is renewed with it.
//
//	cp "$(go env GOROOT)/lib/time/zoneinfo.zip" internal/subject/zones/
func TestTheDatabaseIsThatOfGo(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command on this machine")
	}
	theirs, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Skip("no Go distribution on this machine")
	}
	ours, err := os.ReadFile("zoneinfo.zip")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(theirs, ours) {
		t.Error("zoneinfo.zip is another one than that of the Go distribution: copy it from there")
	}
}

func TestFind(t *testing.T) {
	if _, ok := zones.Find("Mars/Base"); ok {
		t.Error("a zone of Mars is known")
	}
	if _, ok := zones.Find("europe/berlin"); ok {
		t.Error("names are told apart by their case")
	}
}
