package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
)

// foundLater is what a look once in a minute finds later than upstream.
var foundLater = &Difference{
	Rule: "C-085, C-096",
	Sentence: "A CronJob is due several times in a minute, and a Job that is not its own any more stands in its list of active ones. That Job " +
		"goes, which begins no pass. Upstream finds out at the next due time. Ours looks in the next minute, and starts a Job then.",
	Parts: true,
}

// paced is lookedOnce, when nothing else sets the two apart: ours agrees with upstream when it looks at each due time,
// and does the same then but for what it says of due times at which nothing starts. Or it is foundLater, when ours
// starts Jobs later than it would then. Nil when it is neither.
func paced(t *player, s Scenario, l lens, seed uint64, mine Picture) (*Difference, error) {
	each, err := playOursWith(s, l, seed, func(settings *events.Settings) { settings.DuePace = 0 })
	if err != nil {
		return nil, fmt.Errorf("ours: %w", err)
	}
	why := lookedOnce
	for line := range strings.Lines(diff(each, mine)) {
		if !strings.Contains(line, " stored of <cronjob ") && !strings.Contains(line, " lastScheduleTime=") && !strings.Contains(line, " event of ") {
			why = foundLater
		}
	}
	if why == foundLater && (!s.does("disown") || !startsLater(each, mine)) {
		return nil, nil
	}
	v, err := compareWith(t, s, l, seed, each)
	if err != nil || v.diff != "" && v.known == nil {
		return nil, err
	}
	return why, nil
}

// startsLater reports whether ours, which looks once in a minute, starts a Job within a minute of each that it would
// start by looking at each due time, and no Job but in place of such a one. Nothing else differs.
func startsLater(each, mine Picture) bool {
	var alone, instead []time.Time // of Jobs that are made by one and not by the other
	for line := range strings.Lines(diff(each, mine)) {
		at, made := madeAt(line[2:])
		switch {
		case made && line[0] == '-':
			alone = append(alone, at)
		case made:
			instead = append(instead, at)
		case !strings.Contains(line, " stored of <cronjob ") && !strings.Contains(line, " event of ") && !strings.Contains(line, " job ") &&
			!strings.Contains(line, " lastScheduleTime=") && !strings.Contains(line, ": active="):
			return false
		}
	}
	follows := func(later []time.Time, at time.Time) bool {
		return slices.ContainsFunc(later, func(l time.Time) bool { return l.After(at) && l.Sub(at) <= time.Minute })
	}
	for _, at := range alone {
		if !follows(mine.made(), at) {
			return false
		}
	}
	for _, at := range instead {
		if !slices.ContainsFunc(alone, func(a time.Time) bool { return follows([]time.Time{at}, a) }) {
			return false
		}
	}
	return len(alone) > 0
}

// made is when the Jobs of a picture were made.
func (p Picture) made() (all []time.Time) {
	for _, line := range p {
		if at, is := madeAt(line); is {
			all = append(all, at)
		}
	}
	return all
}

// madeAt is when a line says that a Job was made.
func madeAt(line string) (time.Time, bool) {
	job, text, is := strings.Cut(strings.TrimSpace(line), " at ")
	at, err := time.Parse(time.RFC3339, text)
	return at, is && err == nil && strings.HasPrefix(job, "made <job ")
}
