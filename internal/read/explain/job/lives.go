package job

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// OfLives chooses the Job to explain among all Jobs that had one name: the newest that has not ended, else the newest
// that failed, else the newest. all has the newest first; older is the number of older Jobs that were not read. The
// chosen Case gets Lives, which lists them all.
func OfLives(all []*Case, older int) *Case {
	chosen := all[0]
	best := 0
	for _, c := range all {
		weight := 1
		switch {
		case c.goesOn():
			weight = 3
		case c.Job.State == history.StateFailed:
			weight = 2
		}
		if weight > best {
			chosen, best = c, weight
		}
	}
	if len(all)+older == 1 {
		return chosen
	}
	chosen.Lives = nil
	for i := len(all) - 1; i >= 0; i-- {
		life := all[i].life()
		life.This = all[i] == chosen
		chosen.Lives = append(chosen.Lives, life)
	}
	chosen.Lives[0].Older = older
	return chosen
}

// goesOn reports whether the Job, as far as known, has neither ended nor been deleted.
func (c *Case) goesOn() bool {
	switch c.Job.State {
	case history.StateWaiting, history.StateRunning, history.StateSuspended, history.StateFailing, history.StateFinishing,
		history.StateDeleting:
		return true
	case history.StateUnseen, history.StateUnmanaged, history.StateComplete, history.StateFailed, history.StateFinished,
		history.StateDeleted:
	}
	return false
}

func (c *Case) life() explain.Life {
	at := events.Time(c.Job.Created)
	switch {
	case c.Finished():
		at = c.End()
	case c.Job.State == history.StateFinished:
		at = events.Time(c.Job.Finished)
	case c.Gone.Record != 0:
		at = c.Gone.At
	}
	return explain.Life{UID: c.Job.UID, State: string(c.Job.State), At: recordjson.Instant(at)}
}
