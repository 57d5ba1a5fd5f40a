package ending

import (
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// unsaidOfNode returns a phrase for what no record tells about a tainted or deleted node, n, such as who did it. known
// is false if no record of the node is known. If the node's kubelet was silent, there is nothing to add: the node
// lifecycle controller then taints the node.
func unsaidOfNode(t *try.Try, e *try.Ending, n *jobcase.NodeAt, known bool) string {
	switch {
	case e.By == try.ByTaint && !known:
		return "which taint it was, and who set it, is unknown"
	case e.By == try.ByTaint && n.Seen != nil && len(n.Seen.Taints) > 0:
		return "who set it is unknown"
	case e.By == try.ByNodeGone && (known && n.Seen == nil || strings.Contains(e.Why, "no longer exists")):
		return "who deleted " + t.Node + " is unknown"
	}
	return ""
}

// withNode adds the state of the pod's node to ending e. when is the record of the disruption or deletion.
func withNode(c *jobcase.Case, t *try.Try, e try.Ending, when explain.Mark) try.Ending {
	n, ok := c.NodeFor(t, e.By, when)
	if e.Unsaid == "" {
		e.Unsaid = unsaidOfNode(t, &e, &n, ok)
	}
	if !ok {
		return e
	}
	e.Why = strings.TrimSuffix(strings.TrimSpace(e.Why), ".")
	if e.Why != "" {
		e.Why += "; "
	}
	e.Why += c.NodeWords(&n, t.Node)
	e.Marks = append(e.Marks, n.Mark)
	return e
}
