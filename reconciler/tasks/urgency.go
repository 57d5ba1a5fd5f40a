package tasks

import (
	"github.com/jobledger/jobledger/events"
)

// Urgency decides whether a batch must become durable at once, so that its commands can be sent. A commit costs two
// disk flushes, during which other commands wait. So if the executor has many pod creations of a Job queued, further
// creations wait for a commit that something else requests (soon = false in store.Log.Append). One commit then serves
// about 20 pods of a large Job instead of 7. When few creations are queued, a commit is requested. The log does not say
// when records become durable, so no decision or replay depends on it.
type Urgency struct {
	busy  func(events.Stream) bool          // nil if no Job ever counts as busy
	waits map[events.Stream]events.Sequence // Jobs with commands up to this record that wait for a commit
}

// NewUrgency returns an Urgency without waiting commands. busy reports whether the executor has many pod creations of a
// Job queued; nil means never.
func NewUrgency(busy func(events.Stream) bool) Urgency {
	return Urgency{busy: busy, waits: map[events.Stream]events.Sequence{}}
}

// Needed reports whether the log must make a batch, or an earlier one, durable as soon as possible. all are the tasks
// of the batch, withdraws says that it also withdraws commands, and newest is its last record.
func (h *Urgency) Needed(all []events.Task, withdraws bool, newest events.Sequence) bool {
	soon := withdraws
	for i := 0; i < len(all) && !soon; i++ {
		t := &all[i]
		if soon = h.busy == nil || !IsCreate(t.Command); !soon {
			h.waits[t.Stream] = newest
		}
	}
	for s := range h.waits {
		if soon = soon || !h.busy(s); soon {
			clear(h.waits) // the same commit makes all of them durable
			return true
		}
	}
	return soon
}

// IsCreate reports whether a command creates a pod.
func IsCreate(c events.Command) bool {
	_, ok := c.(*events.CreatePod)
	return ok
}

// Busy reports whether the executor has many pod creations of the Job queued.
func (h *Urgency) Busy(s events.Stream) bool { return h.busy != nil && h.busy(s) }

// Durable notes that all records up to seq are durable.
func (h *Urgency) Durable(seq events.Sequence) {
	for s, through := range h.waits {
		if through <= seq {
			delete(h.waits, s)
		}
	}
}
