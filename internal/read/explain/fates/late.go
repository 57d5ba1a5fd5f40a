package fates

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
)

// HeldBefore says what held a due time back that started in the end.
func (f *Fates) HeldBefore(e *duetimes.Entry) (why string, from []explain.Mark) {
	for i := range f.Due.Holds {
		if h := &f.Due.Holds[i]; h.Due == e.First {
			text := f.HoldText(h.By, h.Active)
			if why != "" {
				text = why + "; " + text
			}
			why, from = text, append(from, explain.Mark{Record: h.Record, At: h.At})
		}
	}
	if why == "" && e.Late >= LateStart {
		return f.LateBy(e)
	}
	return why, from
}

// Refused reports whether the API server refused the Job of a due time, so that it was held back.
func (f *Fates) Refused(due events.Time) bool {
	return slices.ContainsFunc(f.Due.Holds, func(h duetimes.Hold) bool {
		return h.Due == due &&
			h.By == events.HeldNoCreate
	})
}

// LateStart is the minimum lateness of a start that an answer explains.
const LateStart = history.LateStart

// LateBy explains a late start without a recorded hold. No decision is recorded while a CronJob is suspended, and what
// delays another controller follows from observations.
func (f *Fates) LateBy(e *duetimes.Entry) (why string, from []explain.Mark) {
	if f.GapAt(e.First) != nil {
		return "", nil
	}
	if all, whole := f.Due.Kept(e.First, e.First.Add(e.Late)); whole {
		return f.KeptText(all)
	}
	if e.Observed {
		return "in the records nothing held it back: that controller was slow, or not running", nil
	}
	return "", nil
}
