package failures

import (
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// ofNode returns the node that was the cause of all failures of a Job's pods, and a text for this cause, equal for all
// Jobs that have it. Both are empty if a pod failed for another cause or on another node.
func ofNode(c *jobcase.Case) (node, text string) {
	for _, t := range ending.FailedTries(c) {
		said := nodeText(c, t)
		if said == "" || text != "" && said != text {
			return "", ""
		}
		node, text = t.Node, said
	}
	return node, text
}

// nodeText says what happened to pod t because of its node: "node-1 is gone, so its pods were deleted". It is empty if
// its node was not the cause.
func nodeText(c *jobcase.Case, t *try.Try) string {
	if t.Node == "" {
		return ""
	}
	e := ending.Of(c, t)
	n, known := c.NodeFor(t, e.By, t.DisruptedAt)
	why := strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(e.Why), "."), try.InResponseTo)
	why, _, _ = strings.Cut(why, ". ")
	switch {
	case e.By == try.ByNodeGone && (known && n.Seen == nil || strings.Contains(e.Why, "no longer exists")):
		return t.Node + " was removed, so its pods were deleted; " + explain.ByWhom
	case e.By == try.ByTaint && n.Seen != nil && len(n.Seen.Taints) > 0:
		return t.Node + " was tainted (" + strings.Join(n.Seen.Taints, ", ") + "), so its pods were deleted; " + explain.ByWhom
	case e.By == try.ByTaint:
		return t.Node + " had a NoExecute taint, so its pods were deleted"
	case e.By == try.ByEviction && n.Seen != nil && n.Seen.Cordoned:
		return t.Node + " was cordoned, and its pods were evicted, as by a drain; " + explain.ByWhom
	case e.By == try.ByKubelet:
		return "the kubelet of " + t.Node + " ended pods: " + c.Likened(why)
	}
	return ""
}
