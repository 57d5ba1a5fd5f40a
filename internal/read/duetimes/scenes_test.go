package duetimes

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
)

// asks are what else is asked in scenes, by their names.
var asks = map[string]func(c *CronJob) string{
	"seen first after it had started": func(c *CronJob) string {
		text := ""
		for _, clock := range []string{"08:00:00", "08:00:30", "08:05:00", "08:07:00", "08:10:00", "08:10:01", "08:12:00"} {
			is, first := c.Before(historytest.At(clock))
			text += fmt.Sprintf("  %s: %t #%d, %s\n", clock, is, first.Record, c.saysAt(historytest.At(clock).Go()))
		}
		return text
	},
	"another one came under its name": func(c *CronJob) string {
		c.EndBy(0)
		text := fmt.Sprintf("  %s %t\n", clock(c.Gone), c.EndUnseen)
		c.EndBy(historytest.At("08:05:30"))
		c.now = historytest.At("08:10:00")
		for i := range c.Untold() {
			text += "  " + c.saysEntry(&c.Untold()[i]) + "\n"
		}
		c.EndBy(historytest.At("08:09:00"))
		return text + fmt.Sprintf("  %s %t\n", clock(c.Gone), c.EndUnseen)
	},
	"long ranges": func(c *CronJob) string {
		text := ""
		by := &events.TickLedger{Schedule: "@every 1s", Through: historytest.At("08:00:00")}
		for i, d := range []time.Duration{0, time.Second, (mostCounted - 2) * time.Second, (mostCounted - 1) * time.Second, mostCounted * time.Second, longestCounted, longestCounted + 1} {
			e := Entry{Tick: events.Tick{First: historytest.At("08:00:00"), Last: historytest.At("08:00:00").Add(d)}, by: by, Record: events.Sequence(i + 1)}
			for range 2 {
				n, ok := c.Count(&e)
				text += fmt.Sprintf("  %s: %d %t\n", d, n, ok)
			}
		}
		for _, by := range []*events.TickLedger{nil, {Schedule: "often", Through: historytest.At("08:00:00")}, {Schedule: "0 0 1 1 *", Through: historytest.At("08:00:00")}} {
			e := Entry{Tick: events.Tick{First: historytest.At("08:00:00"), Last: historytest.At("09:00:00")}, by: by, Record: 99}
			n, ok := c.Count(&e)
			c.counts = nil
			text += fmt.Sprintf("  %v: %d %t, until %s, lost %t\n", by, n, ok, clock(c.Until(&e, e.First)), c.Lost(&e, e.First))
		}
		return text
	},
	"how many there are between": func(c *CronJob) string {
		text := fmt.Sprintf("  in %v\n", c.Location())
		for _, minutes := range []int{0, 1, 99, 100, 101} {
			n, more := c.Between(historytest.At("08:00:00").Go(), historytest.At("08:00:00").Go().Add(time.Duration(minutes)*time.Minute))
			text += fmt.Sprintf("  in %d minutes %d %t\n", minutes, n, more)
		}
		c.Seen = nil
		n, more := c.Between(historytest.At("08:00:00").Go(), historytest.At("09:00:00").Go())
		return text + fmt.Sprintf("  unseen %d %t in %v\n", n, more, c.Location())
	},
	"a zone that is not known": func(c *CronJob) string {
		n, more := c.Between(historytest.At("08:00:00").Go(), historytest.At("09:00:00").Go())
		return fmt.Sprintf("  %d %t in %v\n", n, more, c.Location())
	},
}

// TestScenesAreAsKept writes what is told of each scene, around each of its instants, and what a look further back
// adds. Newest and Around say the same of them.
func TestScenesAreAsKept(t *testing.T) {
	var out bytes.Buffer
	for _, x := range historytest.Scenes {
		src := history.Local{Log: historytest.Played(t, x.Steps)}
		fmt.Fprintln(&out, "==", x.Name)
		for _, read := range []func() (*CronJob, error){
			func() (*CronJob, error) { return Read(t.Context(), src, historytest.Nightly) },
			func() (*CronJob, error) { return Newest(t.Context(), src, historytest.Nightly, 0) },
		} {
			c, err := read()
			if err != nil {
				t.Fatal(x.Name, err)
			}
			told := c.says()
			for _, field := range slices.Sorted(maps.Keys(told)) {
				fmt.Fprintf(&out, "%s: %s\n", field, told[field])
			}
			if c.Told != 0 {
				if err := c.LookBack(t.Context(), src, historytest.Nightly); err != nil {
					t.Fatal(err)
				}
				for i := range c.Changes {
					fmt.Fprintf(&out, "before: change #%d %s → %s\n", c.Changes[i].Record, c.Changes[i].Before.Schedule, c.Changes[i].After.Schedule)
				}
				continue
			}
			fmt.Fprintf(&out, "as of %s, first %s\n", clock(c.Now()), c.SeenFirst().Schedule)
			if ask := asks[x.Name]; ask != nil {
				out.WriteString(ask(c))
				break
			}
			for minute := range 24 {
				due := historytest.At("07:59:00").Add(time.Duration(minute) * time.Minute)
				if due > c.now.Add(2*time.Minute) {
					break
				}
				fmt.Fprintf(&out, "  %s: %s; half: %s\n", clock(due), c.saysAt(due.Go()), verdictOf(c, due.Add(30*time.Second).Go()))
				around, err := Around(t.Context(), src, historytest.Nightly, due)
				if err != nil || verdictOf(around, due.Go()) != verdictOf(c, due.Go()) {
					t.Errorf("%s: around %s it is %s (%v), want %s", x.Name, clock(due), verdictOf(around, due.Go()), err, verdictOf(c, due.Go()))
				}
			}
			break
		}
	}
	historytest.Keep(t, *update, "testdata/scenes.txt", out.String())
}
