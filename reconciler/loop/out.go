package loop

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/retries"
	"github.com/jobledger/jobledger/reconciler/tasks"
	"github.com/jobledger/jobledger/store"
)

// Durable tells the loop that all records up to seq are durable. It returns the tasks that may now be sent to the API
// server, and those that the executor must withdraw (back); no task is in both.
func (l *Loop) Durable(seq events.Sequence) (send, back []events.Task) {
	l.durable = max(l.durable, seq)
	l.urgency.Durable(l.durable)
	n := 0
	for ; n < len(l.waiting) && l.waiting[n].through <= l.durable; n++ {
		send = append(send, l.waiting[n].tasks...)
		back = append(back, l.waiting[n].back...)
	}
	tasks.Refresh(l.world, send)
	l.waiting = l.waiting[n:]
	for s, head := range l.heads {
		if head <= l.durable {
			delete(l.heads, s)
			if l.world.Previous(s) == 0 {
				l.forgotten = max(l.forgotten, head)
			}
		}
	}
	return without(send, back), back
}

// without returns the tasks that are not in back.
func without(tasks, back []events.Task) []events.Task {
	if len(tasks) == 0 || len(back) == 0 {
		return tasks
	}
	taken := make(map[events.CommandID]bool, len(back))
	for i := range back {
		taken[back[i].Name] = true
	}
	return slices.DeleteFunc(tasks, func(t events.Task) bool { return taken[t.Name] })
}

// Asks returns the refused commands whose backoff is over, to be sent again, and the commands to withdraw. Their
// decisions are durable.
func (l *Loop) Asks() (send, back []events.Task) { return l.retries.Take() }

// Hastened returns the tasks that have become more urgent since the last call of Hastened.
func (l *Loop) Hastened() []events.Task {
	out := l.hastened
	l.hastened = nil
	return out
}

// Refused returns how many refused commands of each kind wait for another attempt, and whether this has changed since
// the last call. The map is valid until the next turn.
func (l *Loop) Refused() (counts map[retries.RefusedKind]int, changed bool) {
	return l.retries.Refused()
}

// Snapshot encodes the states of all Jobs and CronJobs for a snapshot at once, for an orderly stop. TakeSnapshot
// returns it.
func (l *Loop) Snapshot() { l.snapshots.All(l.next - 1) }

// TakeSnapshot returns a finished snapshot once all records that it covers are durable; ok is false otherwise.
func (l *Loop) TakeSnapshot() (snapshot store.Snapshot, ok bool) {
	head := l.log.Head()
	streams, ok := l.snapshots.Take(head.Sequence)
	if !ok {
		return store.Snapshot{}, false
	}
	return store.Snapshot{Identity: l.log.Identity(), Head: head, Streams: streams}, true
}

// PassedOver returns how many versions of objects were seen but not recorded since the process started.
func (l *Loop) PassedOver() uint64 { return l.gate.PassedOver() }
