package explain

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
)

// deletedBy finds what requested the deletion of a pod that had not ended, or that ended because of it.
func (c *Case) deletedBy(t *Try) Ending {
	seen := t.AskedSeen
	if seen.Record == 0 {
		seen = t.Gone
	}
	gap := c.gapBefore(t, seen)
	namespace, going := c.namespaceEnd(t, seen)
	switch {
	case t.maySucceed:
		const why = "gone when it was watched again: whether it had succeeded is unknown, " +
			"as the status counts successes that were not seen"
		return Ending{By: ByUnknown, Why: why, Marks: marks(seen, t.CountAt), Missing: "a watch at that time"}
	case t.Deleted.Record != 0 && t.Deleted.Record < seen.Record:
		why := reasonWords(t.DeletedReason)
		if t.DeletedReason == "FewerPodsWanted" && c.suspendedAt(t.Deleted) {
			why = reasonWords("JobSuspended")
		}
		if t.DeletedReason == "DuplicateIndex" {
			why = c.indexWhy(t)
		}
		return Ending{By: ByUs, Why: why, Marks: marks(t.Deleted, seen)}
	case going:
		return Ending{
			By: ByNamespace, Why: "its namespace is being deleted since " + c.clock(namespace.seen.Deleted),
			Marks: marks(namespace.Mark, seen),
		}
	case c.namespaceGoing.Record != 0 && c.namespaceGoing.At <= seen.At.Add(5*time.Second):
		return Ending{By: ByNamespace, Why: "its namespace is being deleted", Marks: marks(c.namespaceGoing, seen)}
	case !c.oursAt(seen) && c.controllerFirst(t, seen):
		m, why := c.fewerWanted(t, seen)
		return c.byController(m, why, seen)
	case c.deletedBefore(t, seen):
		return Ending{By: ByJobDeleted, Why: "the Job was deleted, and its pods after it", Marks: marks(c.deletion(), seen)}
	case gap != nil && seen.Record > events.Sequence(gap.Listing):
		return Ending{
			By: ByUnknown, Why: "deleted while the cluster was not watched", Marks: []Mark{{Record: events.Sequence(gap.Listing), At: events.Time(gap.Until)}, seen},
			Missing: "a watch at that time", Not: c.notUs(seen),
		}
	case !c.oursAt(seen):
		if m, why := c.fewerWanted(t, seen); m.Record != 0 {
			return c.byController(m, why, seen)
		}
		if c.thirdRuns() {
			return c.byController(Mark{}, "", seen)
		}
		return c.byClient(t, seen, []string{"the built-in controller (none of its rules asks for it)"})
	}
	return c.byClient(t, seen, c.notUs(seen))
}

// thirdRuns reports whether a controller with unknown rules runs the Job.
func (c *Case) thirdRuns() bool {
	by := c.Job.ManagedBy
	return by != "" && by != events.BuiltinManagedBy
}

// byController says that the Job's own controller deleted the pod by its rules. The rules of a third controller are
// unknown, so the ending is ByUnknown then.
func (c *Case) byController(m Mark, why string, seen Mark) Ending {
	if !c.thirdRuns() {
		return Ending{By: ByController, Why: why, Marks: marks(m, seen)}
	}
	e := Ending{
		By: ByUnknown, Why: "deleted by an API client, or by the Job's own controller", Marks: marks(m, seen),
		Missing: "what that controller decided: it keeps no record", Not: disruptionNames,
	}
	if why != "" {
		e.Why += " (" + why + ")"
	}
	return e
}

// byClient says that an API client deleted the pod. A namespace under deletion loses its pods before its Jobs: if the
// Job disappeared soon after and namespaces are not watched, the two causes cannot be told apart.
func (c *Case) byClient(t *Try, seen Mark, not []string) Ending {
	e := Ending{By: ByClient, Why: "deleted while it " + runningWord(t), Marks: marks(seen), Not: append(not, disruptionNames...)}
	if t.unrecorded > 0 { // one of them may have shown a disruption
		e.By, e.Not, e.Missing = ByUnknown, not, fmt.Sprintf("the %s of it that were seen before and not recorded", versions(t.unrecorded))
		return e
	}
	// Pod garbage collection sets a condition, which may have been missed. It deletes the pods of a node that was gone
	// before.
	if n, ok := c.nodeOf(t, seen); ok && n.seen == nil && n.At < seen.At {
		e.By, e.Why = ByUnknown, "deleted by an API client, or by pod garbage collection: "+c.nodeWords(&n, t.Node)
		e.Marks, e.Missing, e.Not = append(e.Marks, n.Mark), "the pod's condition DisruptionTarget", not
		return e
	}
	const soon = 2 * time.Minute
	if m := c.deletion(); m.Record != 0 && m.At.Sub(seen.At) < soon && !c.finished() {
		look := c.look(seen)
		if look.Namespaces == events.WatchingOn {
			e.Not, e.Marks = append(e.Not, "its namespace's deletion (watched)"), append(e.Marks, look.Mark)
			return e
		}
		e.By, e.Why = ByUnknown, "deleted by an API client, or with its namespace"
		e.Missing = look.toWatch()
		if look.Namespaces != 0 {
			e.Marks = append(e.Marks, look.Mark)
		}
	}
	return e
}

// leftBehind returns the ending of a pod without records since its Job's object was deleted. Garbage collection deletes
// such a pod, unless the Job was deleted with its pods orphaned: then a record shows the Job under deletion first,
// while it waits for them.
func (c *Case) leftBehind(t *Try) Ending {
	switch {
	case c.gone.Record == 0 || c.damage != 0:
		return Ending{}
	case c.jobDeleted == 0 && c.gapBefore(t, c.gone) == nil:
		return Ending{
			By: ByJobDeleted, Why: "the Job was deleted, so garbage collection takes it", Marks: marks(t.Newest, c.gone),
			Missing: "the record of its end",
		}
	}
	return Ending{
		By: ByUnknown, Why: "the Job is gone, and garbage collection takes its pods unless they were orphaned", Marks: marks(t.Newest, c.gone),
		Missing: "what became of it",
	}
}

// leftWhy says why the Job no longer owns a pod that did not end.
func (c *Case) leftWhy(t *Try) string {
	if m := c.deletion(); m.Record != 0 && m.At <= t.Gone.At.Add(time.Second) {
		return "the Job was deleted without its pods (orphaned): it went on"
	}
	return "its owner or its labels were changed: it went on"
}

var disruptionNames = []string{"eviction", "preemption", "taint", "node loss"}

func runningWord(t *Try) string {
	if t.Started.Record != 0 {
		return "ran"
	}
	return "waited to run"
}

// notUs returns "Jobledger" as ruled out if we run the Job: only then does the absence of a decision prove it.
func (c *Case) notUs(seen Mark) []string {
	if c.oursAt(seen) {
		return []string{"Jobledger"}
	}
	return nil
}

// deletedBefore reports whether the Job's deletion explains the pod's deletion: it was requested before the pod's
// deletion, or at the same moment.
func (c *Case) deletedBefore(t *Try, seen Mark) bool {
	const moment = time.Second // the watches of Jobs and of pods are not in step
	m := c.deletion()
	switch {
	case m.Record == 0:
		return false
	case c.jobDeleted != 0 && t.Asked != 0:
		return t.Asked.Add(moment) >= c.jobDeleted
	case t.AskedExact: // whole seconds, and the clocks differ a little
		return t.Asked.Add(moment+moment/2) >= m.At
	}
	return m.At <= seen.At.Add(moment)
}

// deletion returns the first record of the request to delete the Job, otherwise the record that its object is gone;
// none without either.
func (c *Case) deletion() Mark {
	if c.deletedSeen.Record != 0 {
		return c.deletedSeen
	}
	return c.gone
}

// suspendedAt reports whether the spec was suspended at a record.
func (c *Case) suspendedAt(m Mark) bool {
	is := c.firstSuspended()
	for i := range c.edits {
		if c.edits[i].At.Record <= m.Record {
			is = c.edits[i].After.Suspend
		}
	}
	return is
}

// firstSuspended reports whether the spec was suspended when first seen.
func (c *Case) firstSuspended() bool {
	if len(c.edits) > 0 {
		return c.edits[0].Before.Suspend
	}
	return c.Spec != nil && c.Spec.Suspend
}

// controllerFirst reports whether the Job's own controller had a reason to delete the pod before the Job's deletion was
// seen.
func (c *Case) controllerFirst(t *Try, seen Mark) bool {
	m, _ := c.fewerWanted(t, seen)
	gone := c.deletion()
	return m.Record != 0 && gone.Record != 0 && m.Record < gone.Record
}

// fewerWanted returns a record before seen by which the Job's own controller had a reason to delete the pod, and the
// reason. An edit is a reason only while it holds, and while the Job has more pods than it wants.
func (c *Case) fewerWanted(t *Try, seen Mark) (Mark, string) {
	const slack = 3 * time.Second
	if m := c.endedBefore(seen, slack); m.Record != 0 {
		return m, "the Job ended (" + c.settled.Reason + "), so its pods are deleted"
	}
	for i := len(c.edits) - 1; i >= 0; i-- {
		e := &c.edits[i]
		if e.At.At > seen.At.Add(slack) {
			continue
		}
		if t.Seen.At > e.At.At.Add(slack) {
			break // the pod was created after this edit, and so under it and the edits before
		}
		switch {
		case e.After.Suspend && !e.Before.Suspend:
			return e.At, "the Job was suspended"
		case e.Before.Suspend && !e.After.Suspend && e.At.At.Add(slack) < seen.At:
			return Mark{}, "" // the pods of the suspension were stopped before
		case number(e.After.Parallelism) < number(e.Before.Parallelism) && c.living(seen) > int(number(e.After.Parallelism)):
			return e.At, "parallelism was lowered"
		}
	}
	return Mark{}, ""
}

// living returns the number of pods at a record that had not ended and were not under deletion.
func (c *Case) living(at Mark) (n int) {
	for _, t := range c.Tries {
		over := t.over() && t.end().Record < at.Record
		asked := t.AskedSeen.Record != 0 && t.AskedSeen.Record < at.Record
		if t.Seen.Record <= at.Record && !over && !asked {
			n++
		}
	}
	return n
}

// endedBefore returns the record by which the Job ended before a pod was deleted. Later records cannot explain the
// deletion: the deleted pod may itself be the failure that exceeded the limit. If our rules do not explain the Job's
// end, its status may be seen up to slack later than the pod.
func (c *Case) endedBefore(seen Mark, slack time.Duration) Mark {
	s := c.settled
	switch {
	case s == nil:
	case s.Same && s.Evidence.Record != 0:
		if s.Evidence.Record < seen.Record {
			return s.Evidence
		}
	case s.Seen.At <= seen.At.Add(slack) && (s.Seen.Record < seen.Record || !c.oneTooMany(seen)):
		return s.Seen
	}
	return Mark{}
}

// oneTooMany reports whether a Job that failed for its failures had too few of them without the pod deleted at seen.
// The deletion was then the failure that exceeded backoffLimit, and not a consequence. (The built-in controller counts
// a pod under deletion as failed, even if its program then ends with 0.)
func (c *Case) oneTooMany(seen Mark) bool {
	if c.settled.Reason != "BackoffLimitExceeded" || c.Spec == nil || c.Spec.BackoffLimit == nil {
		return false
	}
	n := 0
	for _, t := range c.Tries {
		if t.failed() && t.end().Record < seen.Record {
			n++
		}
		n += int(t.Restarts)
	}
	return n <= int(*c.Spec.BackoffLimit)
}
