package fates

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
)

// HeldBefore says what held back a due time that started in the end.
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

// Refused reports whether the API server refused to create the Job for a due time, so that the due time was held back.
func (f *Fates) Refused(due events.Time) bool {
	return slices.ContainsFunc(f.Due.Holds, func(h duetimes.Hold) bool {
		return h.Due == due &&
			h.By == events.HeldNoCreate
	})
}

// LateStart is the delay from which an answer explains why a due time started late.
const LateStart = history.LateStart

// LateBy says why a due time started late although no record says what held it back. Records do not say it while a
// CronJob is suspended, or if another controller was late: LateBy then uses what was seen.
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
