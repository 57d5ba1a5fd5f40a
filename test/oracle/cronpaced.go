package oracle

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// paced returns lookedOnce if nothing else sets the two apart: ours agrees with upstream once it looks at each due
// time, and then differs from mine only in due times at which no Job starts, as statuses and Events tell them. It
// returns nil if not.
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

// pacedOn returns lookedOnce, with the other mends that acted, if upstream comes to the picture mine of ours once it does
// not store a due time whose name an ended Job of its minute has. It is for Jobs that follow from what is stored: an
// @every that is set then counts from the due time before, so its Jobs come at other times for good. It returns nil if
// not.
func pacedOn(t *player, s Scenario, l lens, seed uint64, mine Picture) (*Difference, error) {
	v, err := mended(t, s, l, seed, mine, verdict{}, newOnceMends)
	if err != nil || !v.mends[lookedOnce] {
		return nil, err
	}
	return v.known, nil
}
