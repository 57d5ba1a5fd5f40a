package croncase

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/differs"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// TestWhatIsReadOfItsSurroundings: its namespace's end, gaps of the watch, and starts of controllers that record no
// CronJobs, up to the answer's record, 50. The CronJob was there from second 10 to 30.
func TestWhatIsReadOfItsSurroundings(t *testing.T) {
	namespace := func(n events.Sequence, name string, deleted float64) events.Record {
		return whentest.Record(n, float64(n), events.Controller,
			&events.NamespaceSeen{Name: name, Deleted: whentest.Sec(deleted)})
	}
	start := func(n events.Sequence, crons bool) events.Record {
		return whentest.Record(n, float64(n), events.Controller,
			&events.ControllerStarted{Settings: events.Settings{CronJobs: crons}})
	}
	listing := func(n events.Sequence) []events.Record {
		all := []events.Resource{events.Jobs}
		return []events.Record{
			whentest.Record(n, float64(n), events.Controller,
				&events.ListingStarted{Reason: events.ListingRelisted, Resources: all, LastSeen: whentest.Sec(float64(n) - 5),
					LastVersions: []uint64{1}}),
			whentest.Record(n+1, float64(n+1), events.Controller, &events.Synced{Resources: all}),
		}
	}
	denied := errors.New("denied")
	for _, row := range []struct {
		name      string
		log       []events.Record
		bad       events.Sequence
		with      error
		namespace events.Sequence
		gaps, off int
	}{
		{name: "nothing"},
		{name: "its namespace goes", log: []events.Record{namespace(25, "ns", 24)}, namespace: 25},
		{name: "its namespace goes, by two records", log: []events.Record{namespace(25, "ns", 24), namespace(26, "ns", 24)},
			namespace: 26},
		{name: "another namespace goes", log: []events.Record{namespace(25, "other", 24)}},
		{name: "its namespace goes later", log: []events.Record{namespace(45, "ns", 44)}},
		{name: "a controller of CronJobs", log: []events.Record{start(20, true)}},
		{name: "a controller without them", log: []events.Record{start(20, false), start(50, false)}, off: 2},
		{name: "one that comes later", log: []events.Record{start(51, false)}},
		{name: "a gap", log: listing(20), gaps: 1},
		{name: "two gaps", log: append(listing(20), listing(40)...), gaps: 2},
		{name: "a gap behind the answer", log: listing(51)},
		{name: "damage behind a gap", log: append(listing(20), namespace(25, "ns", 24)), bad: 25, with: store.ErrCorrupt,
			gaps: 1},
		{name: "denied", log: append(listing(20), namespace(25, "ns", 24)), bad: 25, with: denied, gaps: 1},
	} {
		c := &Case{State: history.CronJob{Namespace: "ns", Created: whentest.Recorded(10)}, Misses: &explain.Misses{},
			Ctx: t.Context(),
			Src: &whentest.Log{All: row.log, Bad: row.bad, With: row.with}, Gone: whentest.Seen(30, 30)}
		if err := c.surroundings(0, 50); errors.Is(err, denied) != errors.Is(row.with, denied) {
			t.Errorf("%s: %v", row.name, err)
		}
		if c.Namespace.Record != row.namespace || len(c.Gaps) != row.gaps || len(c.Off) != row.off {
			t.Errorf("%s: namespace by %d, %d gaps, %d starts without CronJobs", row.name, c.Namespace.Record, len(c.Gaps),
				len(c.Off))
		}
	}
}

// TestWhatAnEditChangedOfTheTemplate: each field if both templates are kept, as many as an answer shows, and how many
// more; or that it was edited.
func TestWhatAnEditChangedOfTheTemplate(t *testing.T) {
	template := func(n int) []byte {
		var fields []string
		for i := range differs.MostDifferences + 2 {
			value := 1
			if i < n {
				value = 2
			}
			fields = append(fields, fmt.Sprintf(`"f%d":%d`, i, value))
		}
		return []byte(`{"spec":{"template":{"spec":{` + strings.Join(fields, ",") + `}}}}`)
	}
	for n := range differs.MostDifferences + 3 {
		c := &Case{templates: map[string][]byte{"old": template(0), "new": template(n)}}
		edit := &duetimes.Change{Before: &events.CronJobSeen{Template: "old", Redacted: "old"},
			After: &events.CronJobSeen{Template: "new", Redacted: "new", Schedule: "x"}}
		text := c.EditText(edit).Cut
		shown, more := min(n, differs.MostDifferences), n-differs.MostDifferences
		if got := strings.Count(text, " 1 → 2"); got != shown || strings.Contains(text, " more") != (more > 0) ||
			more > 0 && !strings.Contains(text, fmt.Sprintf(" · %d more", more)) {
			t.Errorf("%d fields: %q", n, text)
		}
		if strings.Contains(text, "jobTemplate: f0 1") != (n > 0) || !strings.Contains(text, `"x"`) {
			t.Errorf("%d fields: %q", n, text)
		}
		for _, missing := range []string{"old", "new"} {
			kept := c.templates[missing]
			delete(c.templates, missing)
			if got := c.EditText(edit).Cut; strings.Contains(got, "→ 2") || !strings.Contains(got, "emplate") {
				t.Errorf("without the %s template: %q", missing, got)
			}
			c.templates[missing] = kept
		}
	}
}
