package loop

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// promise makes the executor's tasks of a decision that has been folded. They wait until its record is durable.
func (l *Loop) promise(b *batch, j *projector.Job, at events.Sequence, d *events.Decision) {
	for place, c := range d.Commands() {
		if w, ok := c.(*events.Withdraw); ok {
			b.back = append(b.back, l.task(j, w.Command, j.InFlight(w.Command))) // as takeBack does
			// One that does not stand has one try, which is answered.
			if l.retrying.known[w.Command] != nil {
				l.retrying.asks.set(w.Command, b.time.Add(noAnswer))
			}
			continue
		}
		b.tasks = append(b.tasks, l.task(j, events.CommandID{Decided: at, Place: uint32(place)}, c))
	}
}

// task is a command of the Job with all that is needed to carry it out.
func (l *Loop) task(j *projector.Job, name events.CommandID, c events.Command) events.Task {
	t := events.Task{
		Name: name, Life: l.world.Identity, Stream: j.Stream, Job: j.Ref, ManagedBy: j.ManagedBy, Command: c,
		Base: j.Version, Workload: j.Group.Workload, PodGroup: j.Group.PodGroup,
	}
	if uid := events.PodOf(c); uid != "" {
		t.Pod = podRef(j, uid)
	}
	if w, ok := c.(*events.WriteStatus); ok {
		body := j.Base.With(&w.Change)
		t.Status, t.Base = body.Record(), w.Base
	}
	return t
}

func podRef(j *projector.Job, uid types.UID) events.PodRef {
	ref := events.PodRef{UID: uid}
	if p := j.Pod(uid); p != nil {
		ref.Name, ref.Unowned = p.Name, p.Owner == ""
	}
	return ref
}
