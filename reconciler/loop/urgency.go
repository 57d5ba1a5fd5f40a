package loop

import (
	"github.com/jobledger/jobledger/events"
)

// urgency decides which commands may become durable later. A commit costs two disk flushes, and other commands wait
// for it. If the executor has plenty of creates of a Job queued, further creates join the next commit that is
// requested, like records that nothing waits for (store.Log.Append); one commit then serves about 20 pods of a large
// Job instead of 7. When the executor runs short, a commit is requested. The time of durability is not in the log, so
// no decision or replay depends on it.
type urgency struct {
	busy  func(events.Stream) bool          // nil for never
	waits map[events.Stream]events.Sequence // commands wait for an unrequested commit of that record
}

func newUrgency(busy func(events.Stream) bool) urgency {
	return urgency{busy: busy, waits: map[events.Stream]events.Sequence{}}
}

// needed reports whether the batch, or an earlier one, must become durable as soon as possible.
func (h *urgency) needed(b *batch) bool {
	soon := len(b.back) > 0
	for i := 0; i < len(b.tasks) && !soon; i++ {
		t := &b.tasks[i]
		if soon = h.busy == nil || !isCreate(t.Command); !soon {
			h.waits[t.Stream] = b.records[len(b.records)-1].Sequence
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

func isCreate(c events.Command) bool {
	_, ok := c.(*events.CreatePod)
	return ok
}

// durable tells urgency that records through seq are durable.
func (h *urgency) durable(seq events.Sequence) {
	for s, through := range h.waits {
		if through <= seq {
			delete(h.waits, s)
		}
	}
}
