package try

import (
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
)

// By names what ended a try (a pod). The values are listed in ended.go.
type By string

// Ending says what ended a try (a pod), and which records prove it.
type Ending struct {
	By      By
	Why     string         // what the records say, as a phrase: "deleted: the Job fails"
	Missing string         // what the log lacks to tell more; empty for nothing
	Marks   []explain.Mark // the records that show it
	Not     []string       // causes that are ruled out, for ByUnknown and ByClient
	Then    string         // what happened later, during its deletion, or that its node was cordoned
	Unsaid  string         // phrase for what no record tells: "by whom is unknown"

	NodeWent bool // its node was deleted during the deletion of the pod
	Rejected bool // if By is ByKubelet: the kubelet refused the pod, so it never ran
}

// Sentence says what ended the pod, and adds what no record tells about it.
func (e *Ending) Sentence() string { return e.Tell("", true) }

// Tell says what ended the pod. It puts the text asked, about the request to delete it, between the request and what
// came later. If unsaid is true, it adds what no record tells.
func (e *Ending) Tell(asked string, unsaid bool) string {
	text := e.did()
	if unsaid && e.Unsaid != "" {
		text += "; " + e.Unsaid
	}
	if len(e.Not) > 0 {
		text += "; not by " + strings.Join(e.Not, ", ")
	}
	text += asked
	if e.Then != "" {
		text += "; " + e.Then
	}
	if e.Missing != "" {
		text += "; missing: " + e.Missing
	}
	return text
}

func (e *Ending) did() (text string) {
	switch e.By {
	case ByEviction:
		text = "evicted through the eviction API"
	case ByPreemption:
		text = "preempted: " + e.Why
	case ByTaint:
		text = "deleted by the taint manager: " + strings.TrimPrefix(e.Why, "Taint manager: ")
	case ByDevice:
		text = withMessage("deleted for a taint of a device", e.Why)
	case ByOther:
		text = "disrupted: " + e.Why
	case ByNodeGone:
		text = "deleted by pod garbage collection: " + e.Why
	case ByKubelet:
		text = e.ByNode() + ": " + strings.TrimRight(e.Why, ". ")
	case ByUs:
		text = "deleted by Jobledger: " + e.Why
	case ByController:
		text = "deleted by the Job's controller (inferred from its rules): " + e.Why
	case ByJobDeleted, ByNamespace, ByNothing:
		text = e.Why
	case ByClient:
		text = e.Why + " by an API client"
	case ByUnknown:
		text = e.Why
	case ByItself, BySignal, ByOwnLimit, ByDeadline, ByNobody:
	}
	return text
}

// InResponseTo begins a kubelet's message about a pod on a node that shuts down.
const InResponseTo = "Pod was terminated in response to "

// ByNode says what the kubelet did with the pod: it ended it, or refused to run it.
func (e *Ending) ByNode() string {
	if e.Rejected {
		return "rejected by its node"
	}
	return "terminated by its kubelet"
}

// AskedMarks returns the records that show when the deletion of the pod was requested.
func (t *Try) AskedMarks() []explain.Mark {
	if t.Asked == 0 {
		return nil
	}
	return explain.Marks(t.askedBy, t.GraceBy)
}
