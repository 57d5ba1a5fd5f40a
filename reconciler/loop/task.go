package loop

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/executor"
)

// promise makes the executor's tasks of a decision that has been folded. They wait until its record is durable.
func (l *Loop) promise(b *batch, j *projector.Job, at events.Sequence, d *events.Decision) {
	for place, c := range d.Commands() {
		if w, ok := c.(*events.Withdraw); ok {
			b.give = append(b.give, w.Command)
			continue
		}
		t := executor.Task{
			Name:   events.CommandName{Decided: at, Place: uint32(place)},
			Stream: j.Stream, Job: j.Ref, ManagedBy: j.ManagedBy, Command: c,
		}
		switch c := c.(type) {
		case *events.DeletePod:
			t.Pod = podRef(j, c.Pod)
		case *events.DropFinalizer:
			t.Pod = podRef(j, c.Pod)
		case *events.AdoptPod:
			t.Pod = podRef(j, c.Pod)
		case *events.ReleasePod:
			t.Pod = podRef(j, c.Pod)
		case *events.WriteStatus:
			body := j.Base.With(&c.Change)
			t.Status, t.Base = body.Record(), c.Base
		}
		b.tasks = append(b.tasks, t)
	}
}

func podRef(j *projector.Job, uid types.UID) executor.PodRef {
	ref := executor.PodRef{UID: uid}
	if p := j.Pod(uid); p != nil {
		ref.Name = p.Name
	}
	return ref
}
