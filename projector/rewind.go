package projector

import (
	"github.com/jobledger/jobledger/events"
)

// rewind forgets all that was recorded about the cluster's objects. The record at the sequence at says that the cluster
// provably went back in time (design §5, Versions), or that the log has lost records. Jobs, pods, commands in flight,
// waits and versions no longer apply. The next listing is the truth, as after the loss of a log (design §2, invariant
// 4). Nothing is decided before it is complete.
func (w *World) rewind(at events.Sequence) {
	for s, subject := range w.subjects {
		if w.floors[s] >= at {
			continue // the snapshot was taken after the rewind
		}
		if j := HolderOf(subject); j != nil {
			w.stated.jobs.Remove(j)
			if j.Spec != nil {
				w.specs.Release(j.Spec.Hash)
			}
		}
		if c, ok := subject.(*CronJob); ok {
			w.dropCron(c)
		}
		delete(w.subjects, s)
	}
	for uid, r := range w.retired {
		if w.floors[events.JobStream(uid)] < at {
			w.dropRetired(r)
		}
	}
	for uid, s := range w.homes {
		if w.subjects[s] == nil {
			delete(w.homes, uid)
		}
	}
	clear(w.stated.parts)
}
