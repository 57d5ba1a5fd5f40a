package projector

import (
	"github.com/jobledger/jobledger/events"
)

// rewind forgets all that was learnt of a cluster which was proven to have gone back (design §5, Versions), or of which
// the log has lost records: Jobs, pods, commands in flight, waits and versions are of a past that the cluster does not
// have. The listing that follows is the truth, as it is after the loss of a log (design §2, invariant 4). Nothing is
// decided before that listing is complete.
func (w *World) rewind(at events.Sequence) {
	for s, subject := range w.subjects {
		if w.floors[s] >= at {
			continue // a snapshot has it as it was seen after the rewind
		}
		if j := HolderOf(subject); j != nil {
			w.stated.jobs.remove(j)
			if j.Spec != nil {
				w.specs.release(j.Spec.Hash)
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
