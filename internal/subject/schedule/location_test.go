package schedule_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/zones"
)

// TestLoad: a zone shows the time that the standard library shows, at any instant, before its first change and after
// the last one that is listed, and at the second of each change and the one before it.
func TestLoad(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	first, last := time.Date(1850, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	for _, name := range zones.Names() {
		rules, ok := zones.Find(name)
		if !ok {
			t.Fatalf("no rules of %s", name)
		}
		slow, err := time.LoadLocationFromTZData(name, rules.TZif)
		if err != nil {
			t.Fatal(err)
		}
		fast, err := schedule.Load(name, rules.TZif)
		if err != nil {
			t.Fatal(err)
		}
		if fast.String() != name {
			t.Errorf("%s is named %s", name, fast)
		}
		compare := func(at int64) {
			a, b := time.Unix(at, 0).In(slow), time.Unix(at, 0).In(fast)
			if a.String() != b.String() || a.IsDST() != b.IsDST() {
				t.Errorf("%s: %s, want %s", name, b, a)
			}
			y, m, d := a.Date()
			hour, minute := random.IntN(24), random.IntN(60)
			if a, b := time.Date(y, m, d, hour, minute, 0, 0, slow), time.Date(y, m, d, hour, minute, 0, 0, fast); !a.Equal(b) {
				t.Errorf("%s: %d:%02d is %s, want %s", name, hour, minute, b, a)
			}
		}
		for range 200 {
			compare(first + random.Int64N(last-first))
		}
		at := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).In(fast)
		for {
			_, end := at.ZoneBounds()
			if end.IsZero() || end.Year() > 2105 {
				break
			}
			if !end.After(at) {
				end = at.AddDate(0, 0, 1)
			}
			at = end
			compare(at.Unix())
			compare(at.Unix() - 1)
		}
		if t.Failed() {
			return
		}
	}
}

// BenchmarkLoad is what it costs to read the rules of a zone.
func BenchmarkLoad(b *testing.B) {
	rules, _ := zones.Find("Europe/Berlin")
	for b.Loop() {
		if _, err := schedule.Load("Europe/Berlin", rules.TZif); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNext is the next instant of a schedule, in a year to come.
func BenchmarkNext(b *testing.B) {
	rules, _ := zones.Find("Europe/Berlin")
	slow, _ := time.LoadLocationFromTZData("Europe/Berlin", rules.TZif)
	fast, _ := schedule.Load("Europe/Berlin", rules.TZif)
	for _, text := range []string{"*/7 * * * *", "30 2 * * *", "0 0 13 * 5"} {
		for _, row := range []struct {
			name string
			in   *time.Location
		}{{"UTC", nil}, {"library", slow}, {"listed", fast}} {
			b.Run(text+"/"+row.name, func(b *testing.B) {
				s, err := schedule.Parse(text, row.in, nil)
				if err != nil {
					b.Fatal(err)
				}
				at := time.Date(2031, 5, 5, 11, 11, 0, 0, time.UTC)
				for b.Loop() {
					s.Next(at)
				}
			})
		}
	}
}
