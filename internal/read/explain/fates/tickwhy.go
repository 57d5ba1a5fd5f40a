package fates

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// TickWhy says, as a phrase for a list, what kept due time e from starting, or delayed it. It is empty if the records
// do not prove it. gaps are the times in which no controller watched.
func TickWhy(due *duetimes.CronJob, e *duetimes.Entry, gaps []*history.Gap, zone words.Zone) string {
	f := &Fates{Due: due, Gaps: gaps, Zone: zone, Location: due.Location(), Dates: true}
	switch {
	case e.Fate == events.TickStarted:
		return f.startedLate(e)
	case e.Asked() || e.Fate == events.TickAgain || e.Fate == 0:
		return ""
	case e.Fate == events.TickUnknown || e.Fate == events.TickUnwatched:
		if g := f.GapAt(e.First); g != nil {
			return strings.TrimPrefix(explain.GapWhy(g), "because ")
		}
		return ""
	case e.Observed:
		return f.skippedWhy(e)
	}
	why, _ := f.cause(e)
	if d := f.deadlineAt(max(e.First, e.At)); d != nil && e.Fate == events.TickTooLate {
		why = strings.TrimSuffix(fmt.Sprintf("startingDeadlineSeconds is %d; %s", *d, why), "; ")
	}
	return why
}

// startedLate says what held back due time e, which has started; empty if it started in time.
func (f *Fates) startedLate(e *duetimes.Entry) string {
	if e.Late < LateStart {
		return ""
	}
	why, from := f.HeldBefore(e)
	if len(from) == 0 {
		return "" // no record proves the reason, so do not name it
	}
	return why
}

// skippedWhy says why another controller did not start the due times of entry e. It is empty if the first and the last
// of them have different reasons. If no record explains it, it only says that startingDeadlineSeconds was over, if it
// was.
func (f *Fates) skippedWhy(e *duetimes.Entry) string {
	why, from := f.whySkipped(e, e.First)
	if last, _ := f.whySkipped(e, e.Last); last != why {
		return ""
	}
	if len(from) == 0 { // no record explains it: say at most that its starting deadline was over
		_, late, _ := strings.Cut(why, unknownWhy+"; ")
		return late
	}
	return why
}
