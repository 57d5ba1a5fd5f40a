package observe

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// want is something that a decision asks for. Equal wants of decisions one after the other are the same thing, still not
// done. Mark moves when something was done of that sort, though not all: another pod was made, the status was written.
type want struct {
	what  string
	pod   types.UID
	index int32
	mark  uint64
}

// wantsOf are the wants behind a command; none for one that only looks.
func wantsOf(job *projector.Job, c events.Command) []want {
	switch c := c.(type) {
	case *events.CreatePod:
		if c.Index != events.NoIndex {
			return []want{{what: "create", index: c.Index}}
		}
		return []want{{what: "create", index: c.Index, mark: job.Heard()}}
	case *events.DeletePod:
		return []want{{what: "delete", pod: c.Pod}}
	case *events.DropFinalizer:
		return []want{{what: "remove finalizer", pod: c.Pod}}
	case *events.AdoptPod:
		return []want{{what: "adopt", pod: c.Pod}}
	case *events.ReleasePod:
		return []want{{what: "release", pod: c.Pod}}
	case *events.WriteStatus:
		if len(c.Change.Conditions) == 0 {
			return []want{{what: "status", mark: job.Version}}
		}
		var wants []want
		for _, k := range c.Change.Conditions { // other writes in between do not bring it
			wants = append(wants, want{what: "condition " + k.Type + "=" + k.Status + " " + k.Reason})
		}
		return wants
	case *events.ReadJob, *events.ReadPod, *events.FindGroup, *events.Withdraw:
		return nil
	}
	return []want{{what: fmt.Sprintf("%T", c)}}
}
