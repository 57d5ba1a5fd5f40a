package tasks

import (
	"github.com/jobledger/jobledger/events"
)

// Urgency decides which commands may become durable later. A commit costs two disk flushes, and other commands wait
// for it. If the executor has plenty of creates of a Job queued, further creates join the next commit that is
// requested, like records that nothing waits for (store.Log.Append); one commit then serves about 20 pods of a large
// Job instead of 7. When the executor runs short, a commit is requested. The time of durability is not in the log, so
// no decision or replay depends on it.
type Urgency struct {
	busy  func(events.Stream) bool          // nil for never
	waits map[events.Stream]events.Sequence // commands wait for an unrequested commit of that record
}

// NewUrgency returns the state without waiting commands. busy reports whether the executor has plenty of creates of a
// Job queued; nil means never.
func NewUrgency(busy func(events.Stream) bool) Urgency {
	return Urgency{busy: busy, waits: map[events.Stream]events.Sequence{}}
}

// Needed reports whether a batch, or an earlier one, must become durable as soon as possible. all are its commands,
// withdraws says that it also takes commands back, and newest is its last record.
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
			clear(h.waits) // the same commit serves them
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

// Busy reports whether the executor has plenty of creates of the Job queued.
func (h *Urgency) Busy(s events.Stream) bool { return h.busy != nil && h.busy(s) }

// Durable tells it that records through seq are durable.
func (h *Urgency) Durable(seq events.Sequence) {
	for s, through := range h.waits {
		if through <= seq {
			delete(h.waits, s)
		}
	}
}
