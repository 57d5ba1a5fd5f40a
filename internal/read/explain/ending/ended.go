package ending

import (
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// Of returns what ended try t (a pod of the Job), and the records that prove it. It considers only what happened before
// the end: a deletion after a failure did not cause the failure. It caches the result in t.
func Of(c *jobcase.Case, t *try.Try) try.Ending {
	if t.Judged == nil {
		e := endingOf(c, t)
		t.Judged = &e
	}
	return *t.Judged
}

func endingOf(c *jobcase.Case, t *try.Try) try.Ending {
	switch {
	case !t.Over() && t.AskedSeen.Record == 0:
		return leftBehind(c, t)
	case t.EndedFirst(c.Spec != nil && c.Spec.RestartPolicy == "OnFailure" && t.Phase == events.PodFailed):
		return try.Itself(t)
	case t.Moved:
		return try.Ending{By: try.ByNothing, Why: leftWhy(c, t), Marks: explain.Marks(t.Gone)}
	case t.DeletedFirst():
		return deletedAndDisrupted(c, t)
	case t.Disrupted != nil:
		e := t.Disruption()
		switch e.By {
		case try.ByNodeGone, try.ByTaint, try.ByKubelet:
			e = withNode(c, t, e, t.DisruptedAt)
		case try.ByEviction: // kubectl drain cordons the node before it evicts its pods
			if n, ok := c.NodeFor(t, e.By, t.DisruptedAt); ok && n.Seen != nil && n.Seen.Cordoned {
				e.Then, e.Marks = c.NodeWords(&n, t.Node), append(e.Marks, n.Mark)
			}
		}
		return e
	}
	e := deletedBy(c, t)
	// If an API client had the pod deleted, and the pod's node was deleted before the pod was gone, no record tells
	// whether the pod stopped by itself or with its node.
	if n := c.NodeWent(t); n.Record != 0 && e.By == try.ByClient {
		e.Then, e.NodeWent = "while it was being deleted "+c.NodeWords(&n, t.Node), true
		e.Marks = append(e.Marks, n.Mark)
		e.Not = slices.DeleteFunc(slices.Clone(e.Not), func(what string) bool { return what == nodeLoss })
	}
	return e
}

// deletedAndDisrupted returns the ending of a pod that was deleted and then disrupted (evicted, for example): who
// requested the deletion, and the disruption that followed.
func deletedAndDisrupted(c *jobcase.Case, t *try.Try) try.Ending {
	later := try.Ending{By: t.DisruptedBy(), Why: t.Disruption().Why}
	e := deletedBy(c, t)
	e.Then = fmt.Sprintf("at %s, while it was being deleted, it was also %s", c.Clock(t.DisruptedAt.At),
		later.Tell("", false))
	e.Marks, e.Not = append(e.Marks, t.DisruptedAt), notUs(c, t.AskedSeen)
	return e
}

// Until returns the end of try t (a pod). If it has not ended, it returns the time up to which the pod was watched.
func Until(t *try.Try, c *jobcase.Case) events.Time {
	switch {
	case t.Over():
		return t.End().At
	// If the pod has no record since its Job was deleted, it was watched until that deletion.
	case Of(c, t).By != try.ByNobody && t.AskedSeen.Record == 0:
		return c.Gone.At
	case c.Job.Gap != nil:
		return events.Time(c.Job.Gap.From)
	}
	return events.Time(c.Job.AsOf.Time)
}
