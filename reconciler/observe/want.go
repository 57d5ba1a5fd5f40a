package observe

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// want is something that a decision about an observed Job asks for. If two decisions in succession have an equal want,
// the other controller has not done it. mark differs after partial progress, so that the wants do, too: another pod was
// created, or the status was written.
type want struct {
	kind      events.CommandKind
	pod       types.UID
	index     int32
	condition string // condition that the status write adds
	mark      uint64
}

// wantsOf returns what a command asks for; nothing for a command that only reads.
func wantsOf(job *projector.Job, c events.Command) []want {
	traits := c.Traits()
	if traits.Reads || traits.Target == events.TargetCommand {
		return nil
	}
	if write, ok := c.(*events.WriteStatus); ok {
		return wantsOfWrite(job, write)
	}
	_, index := events.OrdinalOf(c)
	w := want{kind: traits.Kind, pod: events.PodOf(c), index: index}
	if traits.Target == events.TargetNewPod && index == events.NoIndex {
		w.mark = job.Heard()
	}
	return []want{w}
}

func wantsOfWrite(job *projector.Job, write *events.WriteStatus) []want {
	w := want{kind: write.Traits().Kind}
	if len(write.Change.Conditions) == 0 {
		w.mark = job.Version
		return []want{w}
	}
	var wants []want
	for _, k := range write.Change.Conditions { // a write without this condition does not do what is wanted
		w.condition = k.Type + "=" + k.Status + " " + k.Reason
		wants = append(wants, w)
	}
	return wants
}
