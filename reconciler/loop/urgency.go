package loop

import (
	"github.com/jobledger/jobledger/events"
)

// urgency says which commands need not be durable at once. A commit costs two flushes of the disk, and while one runs,
// all other commands wait for it. So creates of a Job of which the executor has plenty before it ride with the next
// commit that is waited for, as records do that are not waited for (store.Log.Append), and a commit serves some twenty
// pods of a large Job in the place of seven. As soon as the executor runs short they are asked for. When a record
// becomes durable is no fact of the log, so no decision and no replay depends on any of this.
type urgency struct {
	busy  func(events.Stream) bool          // nil for never
	waits map[events.Stream]events.Sequence // with commands that wait for a commit that was not asked for, through that record
}

func newUrgency(busy func(events.Stream) bool) urgency {
	return urgency{busy: busy, waits: map[events.Stream]events.Sequence{}}
}

// needed reports whether the batch, or one that waits since, is to be durable as soon as can be.
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
			clear(h.waits) // that commit is theirs too
			return true
		}
	}
	return soon
}

func isCreate(c events.Command) bool {
	_, ok := c.(*events.CreatePod)
	return ok
}

// durable takes notice that records through seq are durable.
func (h *urgency) durable(seq events.Sequence) {
	for s, through := range h.waits {
		if through <= seq {
			delete(h.waits, s)
		}
	}
}
