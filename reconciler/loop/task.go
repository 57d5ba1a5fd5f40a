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
			if l.standing.known[w.Command] != nil {
				l.standing.asks.set(w.Command, b.time.Add(noAnswer))
			}
			continue
		}
		b.tasks = append(b.tasks, l.task(j, events.CommandName{Decided: at, Place: uint32(place)}, c))
	}
}

// task is a command of the Job with all that is needed to carry it out.
func (l *Loop) task(j *projector.Job, name events.CommandName, c events.Command) events.Task {
	t := events.Task{Name: name, Life: l.world.Identity, Stream: j.Stream, Job: j.Ref, ManagedBy: j.ManagedBy, Command: c}
	switch c := c.(type) {
	case *events.DeletePod:
		t.Pod = podRef(j, c.Pod)
	case *events.DropFinalizer:
		t.Pod = podRef(j, c.Pod)
		if p := j.Pod(c.Pod); p != nil && p.Owner == "" {
			t.ManagedBy = "" // whosever it was, the finalizer may be either
		}
	case *events.AdoptPod:
		t.Pod = podRef(j, c.Pod)
	case *events.ReleasePod:
		t.Pod = podRef(j, c.Pod)
	case *events.CreatePod:
		if c.InGroup {
			t.PodGroup = j.Group.PodGroup
		}
	case *events.CreatePodGroup:
		t.Workload = j.Group.Workload
	case *events.ReadJob:
		t.Base = j.Version
	case *events.WriteStatus:
		body := j.Base.With(&c.Change)
		t.Status, t.Base = body.Record(), c.Base
	}
	return t
}

func podRef(j *projector.Job, uid types.UID) events.PodRef {
	ref := events.PodRef{UID: uid}
	if p := j.Pod(uid); p != nil {
		ref.Name = p.Name
	}
	return ref
}
