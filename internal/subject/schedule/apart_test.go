package schedule_test

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/subject/schedule"
)

// TestCompare: the next due times under other rules of the zone.
func TestCompare(t *testing.T) {
	for _, row := range []struct {
		sentence, text, was, is string
		apart                   string
		count                   int
		first, now              string
	}{
		{"the same zone", "0 3 * * *", "Europe/Berlin", "Europe/Berlin", "", 0, "", ""},
		{"two zones that go alike", "0 3 * * *", "Europe/Berlin", "Europe/Vienna", "", 0, "", ""},
		{"a zone that is another one at once", "0 3 * * *", "Europe/Berlin", "Asia/Tokyo", "2026-03-01T00:00:00Z", 100, "2026-03-01T02:00:00Z", "2026-03-01T18:00:00Z"},
		{"a zone that has no summer time", "0 3 * * *", "Europe/Berlin", "Africa/Lagos", "2026-03-29T01:00:00Z", 72, "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"},
		{"what differs is beyond the due times", "* * * * *", "Europe/Berlin", "Africa/Lagos", "2026-03-29T01:00:00Z", 0, "", ""},
		{"clocks differ, and due times do not", "0 * * * *", "Europe/Berlin", "Asia/Tokyo", "2026-03-01T00:00:00Z", 0, "", ""},
		{"@every knows no zone", "@every 1h", "Europe/Berlin", "Asia/Tokyo", "", 0, "", ""},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			before, now, from := parsed(t, row.text, row.was), parsed(t, row.text, row.is), at(t, "2026-03-01T00:00:00Z")
			if got := stamp(schedule.Apart(before, now, from)); got != row.apart {
				t.Errorf("apart from %q on, want %q", got, row.apart)
			}
			m := schedule.Compare(before, now, from, 100)
			if m.Count != row.count || stamp(m.Was) != row.first || stamp(m.Is) != row.now {
				t.Errorf("%d differ, the first one %s and now %s; want %d, %s, %s", m.Count, stamp(m.Was), stamp(m.Is), row.count, row.first, row.now)
			}
		})
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
