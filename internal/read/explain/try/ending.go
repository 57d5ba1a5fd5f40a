package try

import (
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
)

// By names what ended a try.
type By string

// Ending is what ended a try, and the records that show it.
type Ending struct {
	By      By
	Why     string         // what the records say, as a phrase: "deleted: the Job fails"
	Missing string         // what the log would need to show more; empty for nothing
	Marks   []explain.Mark // the records that show it
	Not     []string       // causes ruled out, if By is ByUnknown or ByClient
	Then    string         // what happened to a pod under deletion, or the state of its cordoned node

	NodeWent bool // the object of its node was deleted while the pod was under deletion
}

// Sentence says what ended a try.
func (e *Ending) Sentence() string {
	text := ""
	switch e.By {
	case ByEviction:
		text = "evicted through the eviction API"
	case ByPreemption:
		text = "preempted: " + e.Why
	case ByTaint:
		text = "deleted by the taint manager: " + e.Why
	case ByDevice:
		text = withMessage("deleted for a taint of a device", e.Why)
	case ByOther:
		text = "disrupted: " + e.Why
	case ByNodeGone:
		text = "deleted by pod garbage collection: " + e.Why
	case ByKubelet:
		text = "ended by its node: " + e.Why
	case ByUs:
		text = "deleted by Jobledger: " + e.Why
	case ByController:
		text = "deleted by the Job's controller, to judge by its rules: " + e.Why
	case ByJobDeleted, ByNamespace, ByNothing:
		text = e.Why
	case ByClient:
		text = e.Why + " by an API client" + explain.WhichClient
	case ByUnknown:
		switch text = e.Why; {
		case strings.HasPrefix(text, "deleted") && strings.Contains(text, ", or "):
			text += "; which is unknown"
		case strings.HasPrefix(text, "deleted"):
			text += "; by whom is unknown"
		}
	case ByItself, BySignal, ByOwnLimit, ByDeadline, ByNobody:
	}
	if e.Then != "" {
		text += "; " + e.Then
	}
	if len(e.Not) > 0 {
		text += "; not by " + strings.Join(e.Not, ", ")
	}
	if e.Missing != "" {
		text += "; missing: " + e.Missing
	}
	return text
}

// AskedMarks returns the records behind askedText.
func (t *Try) AskedMarks() []explain.Mark {
	if t.Asked == 0 {
		return nil
	}
	return explain.Marks(t.askedBy, t.GraceBy)
}
