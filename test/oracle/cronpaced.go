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
