package show

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

var more = regexp.MustCompile(`and ([0-9]+) (gaps|such times) more`)

// TestNothingIsCutWithoutSayingHowMuch: of every number of gaps, and of times over the budget, so many are named and
// said to be left out as there are, and never only one is left out.
func TestNothingIsCutWithoutSayingHowMuch(t *testing.T) {
	for n := range 8 {
		f := failures.Failures{Gaps: make([]history.Gap, n), Passed: make([]history.Passed, n)}
		for i := range n {
			at := clock + recordjson.Instant(time.Duration(i)*time.Minute)
			f.Gaps[i] = history.Gap{From: at, Until: at + recordjson.Instant(20*time.Second)}
			f.Passed[i] = history.Passed{Namespace: "ci", From: at, Until: at}
		}
		text := strings.Join(failuresHead(&f, words.Zone{}), " · ")
		left := map[string]int{}
		for _, m := range more.FindAllStringSubmatch(text, -1) {
			left[m[2]], _ = strconv.Atoi(m[1])
		}
		gaps, passed := strings.Count(text, "gap "), strings.Count(text, "not all is recorded of")
		if gaps+left["gaps"] != n || passed+left["such times"] != n || left["gaps"] == 1 || left["such times"] == 1 || gaps > 3 || passed > 3 {
			t.Errorf("of %d: %s", n, text)
		}
	}
}

// TestGapsSayWhatIsKnownOfThem: how long one lasts, whether it goes on, and whether its beginning is known.
func TestGapsSayWhatIsKnownOfThem(t *testing.T) {
	second := recordjson.Instant(time.Second)
	for want, g := range map[string]history.Gap{
		"gap 12:00:00–now": {From: clock}, "gap 12:00:00–12:00:01": {From: clock, Until: clock + second}, "gap 12:00:00 of 999ms": {From: clock, Until: clock + second - 1_000_000},
	} {
		if got := gapText(&g, words.Zone{}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	const from, until = "2026-03-02 12:00:00.000Z", "2026-03-02 12:00:01.000Z"
	for want, g := range map[string]history.Gap{
		"since " + from: {From: clock}, "until " + until: {Until: clock + second}, "from " + from + " until " + until: {From: clock, Until: clock + second},
	} {
		if got := gapTimes(&g, words.Zone{}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestAClockSaysTheDayOfAnotherDay: the newest record of a controller that has had nothing to do since yesterday.
func TestAClockSaysTheDayOfAnotherDay(t *testing.T) {
	asOf := events.Time(clock)
	for want, last := range map[string]events.Time{"12:00:00": asOf, "00:00:00": asOf.Add(-12 * time.Hour), "1 Mar 23:59:59": asOf.Add(-12*time.Hour - time.Second)} {
		got := clockText(history.ClockController, last, asOf, words.Zone{})
		if got != " by the controller's clock, its last record "+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
