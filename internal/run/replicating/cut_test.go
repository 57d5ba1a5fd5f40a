package replicating

import (
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog/exchange"
)

// TestTheStreamIsCutBehindTwoDisks: never behind what one disk has alone, and up to its bound not behind a replica that
// is away, or was never heard.
func TestTheStreamIsCutBehindTwoDisks(t *testing.T) {
	replica := func(name string, at events.Sequence, ago time.Duration) exchange.Head {
		return exchange.Head{Name: name, Head: store.Head{Sequence: at}, Heard: time.Now().Add(-ago)}
	}
	here, away := time.Duration(0), time.Hour
	both := func(b, c events.Sequence, ago time.Duration) []exchange.Head {
		return []exchange.Head{replica("b", b, here), replica("c", c, ago)}
	}
	for name, row := range map[string]struct {
		others []exchange.Head
		full   bool
		want   events.Sequence
		why    string
	}{
		"alone":                             {nil, false, 0, "only other copy"},
		"alone, and full":                   {nil, true, 0, "only other copy"},
		"the other one is away, and full":   {[]exchange.Head{replica("b", 90, away)}, true, 0, "only other copy"},
		"two of three":                      {[]exchange.Head{replica("b", 90, here)}, false, 0, "2 of 3"},
		"two of three, and full":            {[]exchange.Head{replica("b", 90, here)}, true, 90, ""},
		"all three":                         {both(90, 80, here), false, 80, ""},
		"one lags, and full":                {both(90, 10, here), true, 90, ""},
		"one is away: it is waited for":     {both(90, 10, away), false, 10, "c is away"},
		"one is away, and full":             {both(90, 10, away), true, 90, ""},
		"one is ahead of the leader's disk": {both(120, 110, here), false, 100, ""},
		"two ahead of it, and full":         {both(120, 110, here), true, 110, ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := copies{own: store.Head{Sequence: 100}, others: row.others, bytes: 5, members: 3, most: 10}
			if row.full {
				k.bytes = 10
			}
			got, why := k.through()
			if got != row.want || (why == "") != (row.why == "") || !strings.Contains(why, row.why) {
				t.Errorf("it may be cut through record %d (%q), want %d (%q)", got, why, row.want, row.why)
			}
		})
	}
}

// TestMarksStayFew, and the newest ones stay.
func TestMarksStayFew(t *testing.T) {
	c := &cutter{}
	for n := range uint64(10 * mostMarks) {
		c.add(mark{place: n + 1})
		if len(c.marks) > mostMarks || c.marks[len(c.marks)-1].place+1 < n+1 {
			t.Fatalf("behind mark %d there are %d, the newest is %d", n+1, len(c.marks), c.marks[len(c.marks)-1].place)
		}
	}
}
