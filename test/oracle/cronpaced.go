package oracle

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// paced returns the difference lookedOnce if it alone explains how the two controllers differ; otherwise nil. Two
// things must be true. Jobledger agrees with upstream if its setting DuePace is 0, so that it looks at each due time.
// And that setting changes Jobledger's picture (mine) only in due times at which no Job starts (in statuses and
// Events).
func paced(t *player, s Scenario, l lens, seed uint64, mine Picture) (*Difference, error) {
	each, err := playOursWith(s, l, seed, func(settings *events.Settings) { settings.DuePace = 0 })
	if err != nil {
		return nil, fmt.Errorf("ours: %w", err)
	}
	for line := range strings.Lines(diff(each, mine)) {
		if !strings.Contains(line, " stored of <cronjob ") && !strings.Contains(line, " lastScheduleTime=") && !strings.Contains(line, " event of ") {
			return nil, nil
		}
	}
	v, err := compareWith(t, s, l, seed, each)
	if err != nil || v.diff != "" && v.known == nil {
		return nil, err
	}
	return lookedOnce, nil
}

// pacedOn returns lookedOnce, with the other mends that had an effect, if upstream, changed to follow our rules
// (mends), comes to Jobledger's picture (mine); otherwise nil. The mends make upstream skip a due time if an ended Job
// of the same minute has its name. paced cannot find this case: an @every schedule counts from the stored due time, so
// from then on all its Jobs come at other times.
func pacedOn(t *player, s Scenario, l lens, seed uint64, mine Picture) (*Difference, error) {
	v, err := mended(t, s, l, seed, mine, verdict{}, newOnceMends)
	if err != nil || !v.mends[lookedOnce] {
		return nil, err
	}
	return v.known, nil
}
