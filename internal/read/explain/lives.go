package explain

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// Life is one of several Jobs that had the same name. Its JSON changes only by growing.
type Life struct {
	UID   string             `json:"uid"`
	State string             `json:"state"`
	At    recordjson.Instant `json:"at"`             // its end or deletion; its creation if it goes on
	This  bool               `json:"this,omitempty"` // the answer is about this Job
	// Older is the number of earlier Jobs of the name that were not read.
	Older int `json:"older,omitempty"`
}

// OfLives chooses one of several Jobs of one name, given with the newest first: the newest that goes on, otherwise the
// newest that failed, otherwise the newest. It sets Lives of the chosen case. older is the number of Jobs not read.
func OfLives(all []*JobCase, older int) *JobCase {
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

// goesOn reports whether the Job has neither ended nor been deleted, as far as known.
func (c *JobCase) goesOn() bool {
	switch c.Job.State {
	case history.StateWaiting, history.StateRunning, history.StateSuspended, history.StateFailing, history.StateFinishing, history.StateDeleting:
		return true
	case history.StateUnseen, history.StateUnmanaged, history.StateComplete, history.StateFailed, history.StateFinished, history.StateDeleted:
	}
	return false
}

func (c *JobCase) life() Life {
	at := events.Time(c.Job.Created)
	switch {
	case c.finished():
		at = c.end()
	case c.Job.State == history.StateFinished:
		at = events.Time(c.Job.Finished)
	case c.gone.Record != 0:
		at = c.gone.At
	}
	return Life{UID: c.Job.UID, State: string(c.Job.State), At: recordjson.Instant(at)}
}
