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

// By is who or what ended a try.
type By string

// Who ends tries. The values are part of the JSON, and for ever.
const (
	ByNobody     By = ""                   // it goes on
	ByItself     By = "itself"             // its containers ended
	ByOwnLimit   By = "its own limit"      // its node stopped it, as it was over a limit of its own spec
	ByDeadline   By = "its own deadline"   // likewise: the pod's own activeDeadlineSeconds
	BySignal     By = "SIGKILL"            // its containers ended with 137, and nobody says who killed them
	ByKubelet    By = "kubelet"            // the node ended it: pressure, shutdown, refused at admission
	ByEviction   By = "eviction API"       // somebody asked for its eviction, as kubectl drain does
	ByPreemption By = "preemption"         // the scheduler made room for another pod
	ByTaint      By = "taint"              // a NoExecute taint of its node
	ByDevice     By = "device taint"       // a taint of a device that it was given
	ByOther      By = "disruption"         // its condition DisruptionTarget says so, with a reason that we do not know or do not have
	ByNodeGone   By = "node gone"          // pod garbage collection: the node no longer exists, or is out of service
	ByUs         By = "Jobledger"          // a decision of ours
	ByController By = "Job controller"     // the controller that runs the Job, which is not ours
	ByJobDeleted By = "the Job's deletion" // garbage collection of what the Job owned
	ByNamespace  By = "namespace deletion"
	ByClient     By = "API client"   // a request that was none of the above
	ByNothing    By = "left the Job" // it did not end: it is the Job's no longer
	ByUnknown    By = "unknown"
)

// disruptions are who ends pods with the condition DisruptionTarget, by its reason.
var disruptions = map[string]By{
	"EvictionByEvictionAPI":  ByEviction,
	"PreemptionByScheduler":  ByPreemption,
	"DeletionByTaintManager": ByTaint,
	"DeletionByPodGC":        ByNodeGone,
	"TerminationByKubelet":   ByKubelet,

	"DeletionByDeviceTaintManager": ByDevice,
}

// disruptedBy is who ended the pod, as its condition DisruptionTarget says; none of a pod without it.
func (t *Try) disruptedBy() By {
	if t.Disrupted == nil {
		return ByNobody
	}
	return cmp.Or(disruptions[t.Disrupted.Reason], ByOther)
}

// disruption is the ending that the condition says.
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

// withMessage is a text and what is said beside it, if anything is.
func withMessage(text, message string) string {
	if message == "" {
		return text
	}
	return text + ": " + message
}

// Disruption reports whether it is none of the pod's own doing, nor of its controller.
func (b By) Disruption() bool {
	switch b {
	case ByKubelet, ByEviction, ByPreemption, ByTaint, ByDevice, ByOther, ByNodeGone:
		return true
	}
	return false
}

// own reports whether the containers of the pod ended, or it was over a limit of its own spec, and nobody had asked for
// that.
func (b By) own() bool {
	return b == ByItself || b == BySignal || b == ByOwnLimit || b == ByDeadline
}

// Ending is who ended a try, and what says so.
type Ending struct {
	By      By
	Why     string   // what the records say of it, in a phrase: "deleted: the Job fails"
	Missing string   // what would have to be known to know more; empty for nothing
	Marks   []Mark   // the records that say so
	Not     []string // who it was not, of an unknown one or of a client
	Then    string   // what befell a pod that was being deleted already, or how its cordoned node was

	nodeWent bool // the object of its node was deleted while it was being deleted
}

// ending finds who ended a try. Only what happened before it ended is looked at: that a pod is deleted after it failed
// does not make the deletion the reason of the failure.
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
		case ByEviction: // kubectl drain cordons the node, and then asks for the evictions
			if n, ok := c.nodeOf(t, t.disrupted); ok && n.seen != nil && n.seen.Cordoned {
				e.Then, e.Marks = c.nodeWords(&n, t.Node), append(e.Marks, n.Mark)
			}
		}
		return e
	}
	e := c.deletedBy(t)
	if n := c.nodeWent(t); n.Record != 0 && e.By == ByClient { // its node or its program ended it then: nobody says
		e.Then, e.nodeWent = "while it was being deleted "+c.nodeWords(&n, t.Node), true
		e.Marks = append(e.Marks, n.Mark)
	}
	return e
}

// deletedFirst reports whether a pod was being deleted already when it was evicted, preempted or driven out by a taint.
// Each of these sets the condition, and then asks for the deletion.
func (t *Try) deletedFirst() bool {
	if t.Disrupted == nil || t.AskedSeen.Record == 0 || t.AskedSeen.Record >= t.disrupted.Record {
		return false
	}
	switch t.disruptedBy() {
	case ByEviction, ByPreemption, ByTaint, ByDevice, ByOther:
		return true
	}
	return false // a kubelet and pod garbage collection say it of pods that are being deleted
}

// deletedAndDisrupted is who asked for the deletion first, and what came to it.
func (c *Case) deletedAndDisrupted(t *Try) Ending {
	later := Ending{By: t.disruptedBy(), Why: t.disruption().Why}
	e := c.deletedBy(t)
	e.Then = "while it was being deleted it was " + later.sentence()
	e.Marks, e.Not = append(e.Marks, t.disrupted), c.notUs(t.AskedSeen)
	return e
}

// endedFirst reports whether the pod ended without anybody having asked for its deletion before, as far as we saw.
// Again says that its containers are started again when they fail: such a pod goes on, also while none of them runs.
func (t *Try) endedFirst(again bool) bool {
	if t.Ended.Record == 0 {
		return false
	}
	asked := t.AskedSeen.Record != 0 && t.AskedSeen.Record <= t.Ended.Record
	ended := t.containersEnded()
	if asked && t.AskedExact && ended != 0 && ended.Add(time.Second) < t.Asked && !again {
		asked = false // both were seen at once, and the node says that it ended before
	}
	disrupted := t.Disrupted != nil && t.disrupted.Record <= t.Ended.Record
	return !asked && !disrupted && t.Deleted.Record == 0 || (t.Deleted.Record > t.Ended.Record && !asked && !disrupted)
}

// containersEnded is when the last of its containers ended, by the node's clock; 0 where the node does not say so of
// each. When the pod was no longer ready says nothing of it: a pod that never started never was.
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

// signalled reports whether a container of a pod ended with 137, as SIGKILL leaves it, and its node says neither who
// sent that nor why.
func (t *Try) signalled() bool {
	return slices.ContainsFunc(failures(t.Containers), func(c events.ContainerEnd) bool {
		return c.ExitCode == 128+int32(syscall.SIGKILL) && !words.Telling(c.Reason)
	})
}

// lost reports whether nobody says how the containers of a pod ended that failed.
func (t *Try) lost() bool {
	return len(failures(t.Containers)) == 0
}

// nodeReasons are reasons in a pod's status by which the kubelet says that it ended the pod.
var nodeReasons = map[string]bool{
	"Evicted": true, "NodeShutdown": true, "Terminated": true, "Preempting": true, "NodeAffinity": true, "OutOfcpu": true, "OutOfmemory": true,
	"OutOfpods": true, "UnexpectedAdmissionError": true, "Shutdown": true, "NodeLost": true,
}

// ownLimits are how the kubelet begins to say that a pod was more than its own spec allows, beside the reason Evicted:
// the node lacked nothing. (localStorageEviction of pkg/kubelet/eviction.)
var ownLimits = []string{"Usage of EmptyDir volume", "Pod ephemeral local storage usage exceeds", "Container "}

const ownDeadline = "the pod's own activeDeadlineSeconds passed"

// ownLimit says over which limit of its own spec a pod was, for which its kubelet stopped it; empty for none.
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

// reasonWords say why we deleted a pod.
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

// indexWhy says why a pod was one too many of its index: that is none that the Job has to do, or has other pods.
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

// specAt is the spec that held at a record; nil for unknown.
func (c *Case) specAt(m Mark) *events.JobSpec {
	is := c.Spec
	for i := len(c.edits) - 1; i >= 0 && c.edits[i].At.Record > m.Record; i-- {
		is = c.edits[i].Before
	}
	return is
}

// marks are those that are of records, each once.
func marks(ms ...Mark) []Mark {
	var out []Mark
	for _, m := range ms {
		if m.Record != 0 && (len(out) == 0 || out[len(out)-1].Record != m.Record) {
			out = append(out, m)
		}
	}
	return out
}
