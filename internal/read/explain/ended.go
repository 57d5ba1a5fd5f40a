package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// By names what ended a try.
type By string

// The values of By. They are part of the JSON and never change.
const (
	ByNobody     By = ""                   // the try goes on
	ByItself     By = "itself"             // its containers ended
	ByOwnLimit   By = "its own limit"      // its node stopped it because it exceeded a limit of its own spec
	ByDeadline   By = "its own deadline"   // its node stopped it because the pod's own activeDeadlineSeconds passed
	BySignal     By = "SIGKILL"            // its containers ended with 137, and nothing shows what killed them
	ByKubelet    By = "kubelet"            // its node ended it: pressure, shutdown, refused at admission
	ByEviction   By = "eviction API"       // an eviction request, as kubectl drain makes
	ByPreemption By = "preemption"         // the scheduler made room for another pod
	ByTaint      By = "taint"              // a NoExecute taint of its node
	ByDevice     By = "device taint"       // a taint of a device that it was given
	ByOther      By = "disruption"         // the condition DisruptionTarget with an unknown or missing reason
	ByNodeGone   By = "node gone"          // pod garbage collection: the node no longer exists, or is out of service
	ByUs         By = "Jobledger"          // our decision
	ByController By = "Job controller"     // another controller that runs the Job
	ByJobDeleted By = "the Job's deletion" // garbage collection of the Job's pods
	ByNamespace  By = "namespace deletion"
	ByClient     By = "API client"   // a request with none of the causes above
	ByNothing    By = "left the Job" // it did not end: the Job no longer owns it
	ByUnknown    By = "unknown"
)

// disruptions maps the reasons of the condition DisruptionTarget to what ends the pod.
var disruptions = map[string]By{
	"EvictionByEvictionAPI":  ByEviction,
	"PreemptionByScheduler":  ByPreemption,
	"DeletionByTaintManager": ByTaint,
	"DeletionByPodGC":        ByNodeGone,
	"TerminationByKubelet":   ByKubelet,

	"DeletionByDeviceTaintManager": ByDevice,
}

// disruptedBy returns what the condition DisruptionTarget names; ByNobody without the condition.
func (t *Try) disruptedBy() By {
	if t.Disrupted == nil {
		return ByNobody
	}
	return cmp.Or(disruptions[t.Disrupted.Reason], ByOther)
}

// disruption returns the ending that the condition DisruptionTarget describes.
func (t *Try) disruption() Ending {
	e := Ending{By: t.disruptedBy(), Why: t.Disrupted.Message, Marks: marks(t.disrupted)}
	if e.By != ByOther {
		return e
	}
	reason := t.Disrupted.Reason
	if reason == "" {
		reason, e.Missing = "its condition DisruptionTarget holds", "the reason of that"
	}
	e.Why = withMessage(reason, t.Disrupted.Message)
	return e
}

// withMessage appends a message to a text, unless it is empty.
func withMessage(text, message string) string {
	if message == "" {
		return text
	}
	return text + ": " + message
}

// Disruption reports whether neither the pod itself nor the Job's controller ended the try.
func (b By) Disruption() bool {
	switch b {
	case ByKubelet, ByEviction, ByPreemption, ByTaint, ByDevice, ByOther, ByNodeGone:
		return true
	}
	return false
}

// own reports whether the pod's containers ended, or the pod exceeded a limit of its own spec, without a request to end
// it.
func (b By) own() bool {
	return b == ByItself || b == BySignal || b == ByOwnLimit || b == ByDeadline
}

// Ending is what ended a try, and the records that show it.
type Ending struct {
	By      By
	Why     string   // what the records say, as a phrase: "deleted: the Job fails"
	Missing string   // what the log would need to show more; empty for nothing
	Marks   []Mark   // the records that show it
	Not     []string // causes ruled out, if By is ByUnknown or ByClient
	Then    string   // what happened to a pod under deletion, or the state of its cordoned node

	nodeWent bool // the object of its node was deleted while the pod was under deletion
}

// ending finds what ended a try, and caches it. It considers only what happened before the end: a deletion after a
// failure is not the cause of the failure.
func (c *Case) ending(t *Try) Ending {
	if t.ended == nil {
		e := c.endingOf(t)
		t.ended = &e
	}
	return *t.ended
}

func (c *Case) endingOf(t *Try) Ending {
	switch {
	case !t.over() && t.AskedSeen.Record == 0:
		return c.leftBehind(t)
	case t.endedFirst(c.Spec != nil && c.Spec.RestartPolicy == "OnFailure" && t.Phase == events.PodFailed):
		return itself(t)
	case t.Moved:
		return Ending{By: ByNothing, Why: c.leftWhy(t), Marks: marks(t.Gone)}
	case t.deletedFirst():
		return c.deletedAndDisrupted(t)
	case t.Disrupted != nil:
		e := t.disruption()
		switch e.By {
		case ByNodeGone, ByTaint, ByKubelet:
			e = c.withNode(t, e, t.disrupted)
		case ByEviction: // kubectl drain cordons the node and then requests the evictions
			if n, ok := c.nodeOf(t, t.disrupted); ok && n.seen != nil && n.seen.Cordoned {
				e.Then, e.Marks = c.nodeWords(&n, t.Node), append(e.Marks, n.Mark)
			}
		}
		return e
	}
	e := c.deletedBy(t)
	// The pod ended with its node or by itself; nothing shows which.
	if n := c.nodeWent(t); n.Record != 0 && e.By == ByClient {
		e.Then, e.nodeWent = "while it was being deleted "+c.nodeWords(&n, t.Node), true
		e.Marks = append(e.Marks, n.Mark)
	}
	return e
}

// deletedFirst reports whether the pod was already under deletion when it was evicted, preempted or removed by a taint.
// Each of these sets the condition DisruptionTarget and then requests the deletion.
func (t *Try) deletedFirst() bool {
	if t.Disrupted == nil || t.AskedSeen.Record == 0 || t.AskedSeen.Record >= t.disrupted.Record {
		return false
	}
	switch t.disruptedBy() {
	case ByEviction, ByPreemption, ByTaint, ByDevice, ByOther:
		return true
	}
	return false // the kubelet and pod garbage collection also set the condition on pods under deletion
}

// deletedAndDisrupted returns what requested the deletion first, and the disruption that followed.
func (c *Case) deletedAndDisrupted(t *Try) Ending {
	later := Ending{By: t.disruptedBy(), Why: t.disruption().Why}
	e := c.deletedBy(t)
	e.Then = "while it was being deleted it was " + later.sentence()
	e.Marks, e.Not = append(e.Marks, t.disrupted), c.notUs(t.AskedSeen)
	return e
}

// endedFirst reports whether the pod ended before any request for its deletion that we saw. With again set, failed
// containers are restarted: such a pod goes on even while none of its containers runs.
func (t *Try) endedFirst(again bool) bool {
	if t.Ended.Record == 0 {
		return false
	}
	asked := t.AskedSeen.Record != 0 && t.AskedSeen.Record <= t.Ended.Record
	ended := t.containersEnded()
	if asked && t.AskedExact && ended != 0 && ended.Add(time.Second) < t.Asked && !again {
		asked = false // both were seen at once, and the node says that the pod ended first
	}
	disrupted := t.Disrupted != nil && t.disrupted.Record <= t.Ended.Record
	return !asked && !disrupted && t.Deleted.Record == 0 || (t.Deleted.Record > t.Ended.Record && !asked && !disrupted)
}

// containersEnded returns when the last of its regular containers ended, by the node's clock; 0 if the node does not
// report an end for each of them. The condition Ready does not help: a pod that never started never was ready.
func (t *Try) containersEnded() (latest events.Time) {
	for _, c := range t.Containers {
		if c.Kind != events.RegularContainer {
			continue
		}
		if c.Finished == 0 || c.Again {
			return 0
		}
		latest = max(latest, c.Finished)
	}
	return latest
}

func itself(t *Try) Ending {
	e := Ending{By: ByItself, Marks: marks(t.Ended, t.shown())}
	switch {
	case t.Phase == events.PodSucceeded:
		e.Why = "success"
	case t.ownLimit() != "":
		if e.By, e.Why = ByOwnLimit, t.ownLimit(); t.Reason == "DeadlineExceeded" {
			e.By, e.Why = ByDeadline, e.Why+t.deadline
			if t.deadlineFrom.Record != 0 {
				e.Marks = append(e.Marks, t.deadlineFrom)
			}
		}
	case t.Placed.Record != 0 && (t.Reason != "" && len(failures(t.Containers)) == 0 || nodeReasons[t.Reason]):
		e.By, e.Why = ByKubelet, words.Because(t.Reason, t.Message)
	case t.lost():
		e.By, e.Why = ByUnknown, exitText(t)
		if !slices.ContainsFunc(t.Containers, lost) {
			e.Why, e.Missing = "its status says that it failed: "+e.Why, "how its containers ended"
		}
	default:
		e.Why = exitText(t)
		if t.signalled() {
			e.By = BySignal
		}
	}
	return e
}

// signalled reports whether a container ended with exit code 137, which SIGKILL leaves, and the node gives no reason.
func (t *Try) signalled() bool {
	return slices.ContainsFunc(failures(t.Containers), func(c events.ContainerEnd) bool {
		return c.ExitCode == 128+int32(syscall.SIGKILL) && !words.Telling(c.Reason)
	})
}

// lost reports whether no container of a failed pod has a known exit code other than 0.
func (t *Try) lost() bool {
	return len(failures(t.Containers)) == 0
}

// nodeReasons are the reasons in a pod's status with which the kubelet ends a pod.
var nodeReasons = map[string]bool{
	"Evicted": true, "NodeShutdown": true, "Terminated": true, "Preempting": true, "NodeAffinity": true, "OutOfcpu": true, "OutOfmemory": true,
	"OutOfpods": true, "UnexpectedAdmissionError": true, "Shutdown": true, "NodeLost": true,
}

// ownLimits are prefixes of the kubelet's messages for the reason Evicted that mean that the pod exceeded a limit of
// its own spec, and not that the node lacked a resource (localStorageEviction of pkg/kubelet/eviction).
var ownLimits = []string{"Usage of EmptyDir volume", "Pod ephemeral local storage usage exceeds", "Container "}

const ownDeadline = "the pod's own activeDeadlineSeconds passed"

// ownLimit returns the limit of its own spec for which the kubelet stopped the pod; empty for none.
func (t *Try) ownLimit() string {
	switch {
	case t.Reason == "DeadlineExceeded":
		return ownDeadline
	case t.Reason != "Evicted":
		return ""
	}
	for _, begin := range ownLimits {
		if strings.HasPrefix(t.Message, begin) {
			return "over its own limit: " + strings.TrimSuffix(strings.TrimSpace(t.Message), ".")
		}
	}
	return ""
}

func number(v *int32) int32 {
	if v == nil {
		return 1
	}
	return *v
}

// reasonWords says why we deleted a pod.
func reasonWords(r events.Reason) string {
	switch r {
	case "JobFailing":
		return "the Job fails, so its pods are deleted"
	case "JobSuspended":
		return "the Job was suspended"
	case "FewerPodsWanted":
		return "fewer pods were wanted"
	case "DuplicateIndex":
		return "another pod had its index"
	case "JobSucceeded":
		return "the Job had succeeded without it"
	case "FinalizerGone":
		return "it was one too many"
	}
	return string(r)
}

// indexWhy says why a pod was one too many for its index: the Job does not need the index, or another pod has it.
func (c *Case) indexWhy(t *Try) string {
	if s := c.specAt(t.Deleted); s != nil && s.Completions != nil && t.Index >= *s.Completions {
		return fmt.Sprintf("completions is %d by then, so its index is none of the Job's", *s.Completions)
	}
	for _, x := range c.Tries {
		if x != t && x.Index == t.Index && x.Seen.Record != 0 && x.Seen.Record < t.Deleted.Record {
			over := x.over() && x.end().Record < t.Deleted.Record
			if !over || x.Phase == events.PodSucceeded {
				return reasonWords("DuplicateIndex")
			}
		}
	}
	return "its index needed no pod"
}

// specAt returns the spec at a record; nil if unknown.
func (c *Case) specAt(m Mark) *events.JobSpec {
	is := c.Spec
	for i := len(c.edits) - 1; i >= 0 && c.edits[i].At.Record > m.Record; i-- {
		is = c.edits[i].Before
	}
	return is
}

// marks returns the given marks without those that have no record, and without consecutive duplicates.
func marks(ms ...Mark) []Mark {
	var out []Mark
	for _, m := range ms {
		if m.Record != 0 && (len(out) == 0 || out[len(out)-1].Record != m.Record) {
			out = append(out, m)
		}
	}
	return out
}
