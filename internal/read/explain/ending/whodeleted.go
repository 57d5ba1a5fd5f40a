package ending

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

const unseenSuccess = "gone when it was watched again: whether it had succeeded is unknown, " +
	"as the status counts successes that were not seen"

// deletedBy returns the ending of pod t, which had not ended when its deletion was requested, or ended because of the
// deletion. The ending says who requested it.
func deletedBy(c *jobcase.Case, t *try.Try) try.Ending {
	seen := t.AskedSeen
	if seen.Record == 0 {
		seen = t.Gone
	}
	gap := c.GapBefore(t, seen)
	namespace, going := c.NamespaceEnd(t, seen)
	switch {
	case t.MaySucceed:
		return try.Ending{By: try.ByUnknown, Why: unseenSuccess, Marks: explain.Marks(seen, t.CountAt), Missing: "a watch at that time"}
	case t.Deleted.Record != 0 && t.Deleted.Record < seen.Record:
		return try.Ending{By: try.ByUs, Why: stopWhy(c, t), Marks: explain.Marks(t.Deleted, seen)}
	case going:
		return try.Ending{
			By: try.ByNamespace, Why: "its namespace is being deleted since " + c.Clock(namespace.Seen.Deleted),
			Marks: explain.Marks(namespace.Mark, seen),
		}
	case c.NamespaceGoing.Record != 0 && c.NamespaceGoing.At <= seen.At.Add(5*time.Second):
		return try.Ending{By: try.ByNamespace, Why: "its namespace is being deleted", Marks: explain.Marks(c.NamespaceGoing,
			seen)}
	case !c.OursAt(seen) && controllerFirst(c, t, seen):
		m, why := fewerWanted(c, t, seen)
		return byController(c, m, why, seen)
	case deletedBefore(c, t, seen):
		return try.Ending{By: try.ByJobDeleted, Why: "the Job was deleted, and its pods after it",
			Marks: explain.Marks(c.Deletion(), seen)}
	case gap != nil && seen.Record > events.Sequence(gap.Listing):
		return try.Ending{
			By: try.ByUnknown, Why: "deleted while the cluster was not watched",
			Marks:   []explain.Mark{{Record: events.Sequence(gap.Listing), At: events.Time(gap.Until)}, seen},
			Missing: "a watch at that time", Not: notUs(c, seen), Unsaid: explain.ByWhom,
		}
	case !c.OursAt(seen):
		if m, why := fewerWanted(c, t, seen); m.Record != 0 {
			return byController(c, m, why, seen)
		}
		if thirdRuns(c) {
			return byController(c, explain.Mark{}, "", seen)
		}
		return byClient(c, t, seen, []string{"the built-in controller (none of its rules asks for it)"})
	}
	return byClient(c, t, seen, notUs(c, seen))
}

// thirdRuns reports whether a third controller runs the Job: neither Jobledger nor the built-in one. Its rules are not
// known.
func thirdRuns(c *jobcase.Case) bool {
	by := c.Job.ManagedBy
	return by != "" && by != events.BuiltinManagedBy
}

// byController returns the ending of a pod that the Job's own controller deleted, for reason why. m proves the reason,
// and seen shows the deletion. If the rules of that controller are not known, the ending is ByUnknown.
func byController(c *jobcase.Case, m explain.Mark, why string, seen explain.Mark) try.Ending {
	if !thirdRuns(c) {
		return try.Ending{By: try.ByController, Why: why, Marks: explain.Marks(m, seen)}
	}
	e := try.Ending{
		By: try.ByUnknown, Why: "deleted by an API client, or by the Job's own controller", Marks: explain.Marks(m, seen),
		Missing: "what that controller decided: it keeps no record", Not: disruptionNames, Unsaid: whichIs,
	}
	if why != "" {
		e.Why += " (" + why + ")"
	}
	return e
}

// byClient returns the ending of a pod that an API client deleted; not has the causes that are ruled out, and seen
// shows the deletion. When a namespace is deleted, its pods go before its Jobs. So if the Job disappeared soon after,
// and namespaces are not watched, the two causes cannot be told apart.
func byClient(c *jobcase.Case, t *try.Try, seen explain.Mark, not []string) try.Ending {
	e := try.Ending{By: try.ByClient, Why: "deleted while it " + runningWord(t), Marks: explain.Marks(seen),
		Not: append(not, disruptionNames...), Unsaid: "which one is unknown"}
	// If a version of the pod got no record, that version may have shown a disruption: the cause is then unknown.
	if t.Unrecorded > 0 {
		e.By, e.Not, e.Missing = try.ByUnknown, not, fmt.Sprintf("the %s of it that were seen before and not recorded",
			explain.Versions(t.Unrecorded))
		e.Unsaid = explain.ByWhom
		return e
	}
	// If the pod's node was gone before, pod garbage collection may have deleted the pod. It first sets the condition
	// DisruptionTarget, but the watch may have missed that version.
	if n, ok := c.NodeOf(t, seen); ok && n.Seen == nil && n.At < seen.At {
		e.By, e.Why = try.ByUnknown, "deleted by an API client, or by pod garbage collection: "+c.NodeWords(&n, t.Node)
		e.Marks, e.Missing, e.Not = append(e.Marks, n.Mark), "the pod's condition DisruptionTarget", not
		e.Unsaid = whichIs
		return e
	}
	const soon = 2 * time.Minute
	if m := c.Deletion(); m.Record != 0 && m.At.Sub(seen.At) < soon && !c.Finished() {
		look := c.Look(seen)
		if look.Namespaces == events.WatchingOn {
			e.Not, e.Marks = append(e.Not, "its namespace's deletion (watched)"), append(e.Marks, look.Mark)
			return e
		}
		e.By, e.Why, e.Unsaid = try.ByUnknown, "deleted by an API client, or with its namespace", whichIs
		e.Missing = look.ToWatch()
		if look.Namespaces != 0 {
			e.Marks = append(e.Marks, look.Mark)
		}
	}
	return e
}

// leftBehind returns the ending of a pod that has no record since its Job was deleted. Garbage collection deletes such
// a pod, unless the Job was deleted with the option to orphan its pods. Then an earlier record shows the Job under
// deletion, with the finalizer for this.
func leftBehind(c *jobcase.Case, t *try.Try) try.Ending {
	switch {
	case c.Gone.Record == 0 || c.Damage != 0:
		return try.Ending{}
	case c.JobDeleted == 0 && c.GapBefore(t, c.Gone) == nil:
		return try.Ending{
			By: try.ByJobDeleted, Why: "the Job was deleted, so garbage collection takes it", Marks: explain.Marks(t.Newest,
				c.Gone),
			Missing: "the record of its end",
		}
	}
	return try.Ending{
		By: try.ByUnknown, Why: "the Job is gone, and garbage collection takes its pods unless they were orphaned",
		Marks:   explain.Marks(t.Newest, c.Gone),
		Missing: "what became of it",
	}
}

// leftWhy says why the Job does not own pod t any more, which had not ended.
func leftWhy(c *jobcase.Case, t *try.Try) string {
	if m := c.Deletion(); m.Record != 0 && m.At <= t.Gone.At.Add(time.Second) {
		return "the Job was deleted without its pods (orphaned): it went on"
	}
	return "its owner or its labels were changed: it went on"
}

const nodeLoss = "node loss"

var disruptionNames = []string{"eviction", "preemption", "taint", nodeLoss}

// whichIs follows a list of possible causes, if no record tells which of them it was.
const whichIs = "which is unknown"

func runningWord(t *try.Try) string {
	if t.Started.Record != 0 {
		return "ran"
	}
	return "waited to run"
}

// notUs returns "Jobledger" as a ruled-out cause, if Jobledger ran the Job at record seen: a deletion by it would be in
// the log. Otherwise it returns none.
func notUs(c *jobcase.Case, seen explain.Mark) []string {
	if c.OursAt(seen) {
		return []string{"Jobledger"}
	}
	return nil
}

// deletedBefore reports whether the deletion of the Job explains the deletion of pod t: the Job's was requested first,
// or at the same moment. seen is the record of the pod's deletion.
func deletedBefore(c *jobcase.Case, t *try.Try, seen explain.Mark) bool {
	const moment = time.Second // the reports of two watches may differ by this much
	m := c.Deletion()
	switch {
	case m.Record == 0:
		return false
	case c.JobDeleted != 0 && t.Asked != 0:
		return t.Asked.Add(moment) >= c.JobDeleted
	// The time of the Job's request is not known. t.Asked is in whole seconds by the API server's clock, and m.At is by
	// our clock, so allow for rounding, too.
	case t.AskedExact:
		return t.Asked.Add(moment+moment/2) >= m.At
	}
	return m.At <= seen.At.Add(moment)
}

// controllerFirst reports whether the Job's own controller had a reason to delete pod t before the deletion of the Job
// was seen. seen is the record of the pod's deletion.
func controllerFirst(c *jobcase.Case, t *try.Try, seen explain.Mark) bool {
	m, _ := fewerWanted(c, t, seen)
	gone := c.Deletion()
	return m.Record != 0 && gone.Record != 0 && m.Record < gone.Record
}

// fewerWanted returns a reason for which the Job's own controller would have deleted pod t, and the record that proves
// it, before record seen of the pod's deletion. An edit is a reason only while it is in force, and while the Job has
// more pods than it wants.
func fewerWanted(c *jobcase.Case, t *try.Try, seen explain.Mark) (explain.Mark, string) {
	const slack = 3 * time.Second
	if m := EndedBefore(c, seen, slack); m.Record != 0 {
		return m, "the Job ended (" + c.Settled.Reason + "), so its pods are deleted"
	}
	for i := len(c.Edits) - 1; i >= 0; i-- {
		e := &c.Edits[i]
		if e.At.At > seen.At.Add(slack) {
			continue
		}
		if t.Seen.At > e.At.At.Add(slack) {
			break // the pod was created after this edit, and so after all earlier ones
		}
		switch {
		case e.After.Suspend && !e.Before.Suspend:
			return e.At, stopWords(e)
		case e.Before.Suspend && !e.After.Suspend && e.At.At.Add(slack) < seen.At:
			// If the Job was resumed before this deletion, its suspension is no reason: it had stopped the pods of that
			// time.
			return explain.Mark{}, ""
		case jobcase.Number(e.After.Parallelism) < jobcase.Number(e.Before.Parallelism) && living(c,
			seen) > int(jobcase.Number(e.After.Parallelism)):
			return e.At, stopWords(e)
		}
	}
	return explain.Mark{}, ""
}

// living returns how many pods of the Job, at record at, had not ended and were not being deleted.
func living(c *jobcase.Case, at explain.Mark) (n int) {
	for _, t := range c.Tries {
		over := t.Over() && t.End().Record < at.Record
		asked := t.AskedSeen.Record != 0 && t.AskedSeen.Record < at.Record
		if t.Seen.Record <= at.Record && !over && !asked {
			n++
		}
	}
	return n
}

// EndedBefore returns the record by which the Job had ended before a pod was deleted at record seen; none if it had
// not. Later records do not count: the deleted pod may itself be the failure that ended the Job. If our rules do not
// explain the Job's end, the record of its status may come up to slack after the pod's deletion.
func EndedBefore(c *jobcase.Case, seen explain.Mark, slack time.Duration) explain.Mark {
	s := c.Settled
	switch {
	case s == nil:
	case s.Same && s.Evidence.Record != 0:
		if s.Evidence.Record < seen.Record {
			return s.Evidence
		}
	case s.Seen.At <= seen.At.Add(slack) && (s.Seen.Record < seen.Record || !oneTooMany(c, seen)):
		return s.Seen
	}
	return explain.Mark{}
}

// oneTooMany reports whether the pod that was deleted at record seen was itself the failure that exceeded backoffLimit:
// without it, the Job had not failed enough. Then its deletion was not a consequence of the Job's end. (The built-in
// controller counts a pod that is being deleted as failed, even if its program then ends with 0.)
func oneTooMany(c *jobcase.Case, seen explain.Mark) bool {
	if c.Settled.Reason != "BackoffLimitExceeded" || c.Spec == nil || c.Spec.BackoffLimit == nil {
		return false
	}
	n := 0
	for _, t := range c.Tries {
		if t.Failed() && t.End().Record < seen.Record {
			n++
		}
		n += int(t.Restarts)
	}
	return n <= int(*c.Spec.BackoffLimit)
}
