package observe

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// want is something that a decision asks for. Equal wants of decisions one after the other are the same thing, still
// not done. Mark moves when something was done of that sort, though not all: another pod was made, the status was
// written.
type want struct {
	kind      events.CommandKind
	pod       types.UID
	index     int32
	condition string // that a status write is to bring
	mark      uint64
}

// wantsOf are the wants behind a command; none for one that only looks.
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
	for _, k := range write.Change.Conditions { // other writes in between do not bring it
		w.condition = k.Type + "=" + k.Status + " " + k.Reason
		wants = append(wants, w)
	}
	return wants
}
