package show

import (
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// TestAttemptsSayTheirDay: the day stands once above the tries, with the zone, and a time of another day has its date.
func TestAttemptsSayTheirDay(t *testing.T) {
	at := func(text string) recordjson.Instant {
		v, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return recordjson.Instant(events.At(v))
	}
	rows := []attempts.Attempt{
		{Try: 1, Pod: "p-a", Started: at("2026-03-14T23:59:58Z"), Next: at("2026-03-15T00:00:08Z")},
		{Try: 2, Pod: "p-b", Started: at("2026-03-15T00:00:09Z")},
		{Try: 3, Pod: "p-c"},
	}
	for zone, want := range map[*time.Location][]string{
		nil:                      {"— 2026-03-14 UTC —", "  23:59:58 ", "after 15 Mar 00:00:08", "  15 Mar 00:00:09 "},
		time.FixedZone("", 3600): {"— 2026-03-15, zone +01:00 —", "  00:59:58 ", "after 01:00:08", "  01:00:09 "},
	} {
		var out strings.Builder
		page := &Page{Out: &out, Zone: words.Zone{Location: zone}}
		if err := page.Attempts(rows, "3 tries"); err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if strings.Count(out.String(), text) != 1 {
				t.Errorf("the list does not have %q once:\n%s", text, &out)
			}
		}
	}
}
