package try

import (
	"cmp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/say/verdict"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Values of By, which names what ended a try (a pod). They are part of the JSON and never change.
const (
	ByNobody     By = ""                   // the try has not ended
	ByItself     By = "itself"             // its containers ended by themselves
	ByOwnLimit   By = "its own limit"      // its kubelet stopped it because it exceeded a limit in its own spec
	ByDeadline   By = "its own deadline"   // its kubelet stopped it because its own activeDeadlineSeconds passed
	BySignal     By = "SIGKILL"            // its containers ended with 137, and nothing shows what killed them
	ByKubelet    By = "kubelet"            // its kubelet ended it: node pressure, shutdown, refused admission
	ByEviction   By = "eviction API"       // an eviction request, as kubectl drain makes
	ByPreemption By = "preemption"         // the scheduler made room for another pod
	ByTaint      By = "taint"              // a NoExecute taint of its node
	ByDevice     By = "device taint"       // a taint of a device that it had
	ByOther      By = "disruption"         // the condition DisruptionTarget with an unknown or missing reason
	ByNodeGone   By = "node gone"          // pod garbage collection: the node no longer exists, or is out of service
	ByUs         By = "Jobledger"          // a decision of this Jobledger
	ByController By = "Job controller"     // the Job's controller, if that is not Jobledger
	ByJobDeleted By = "the Job's deletion" // garbage collection of the Job's pods
	ByNamespace  By = "namespace deletion"
	ByClient     By = "API client"   // a deletion request with none of the causes above
	ByNothing    By = "left the Job" // the pod goes on, but the Job does not own it any more
	ByUnknown    By = "unknown"
)

// Disruptions says, for each reason of the pod condition DisruptionTarget, what ended the pod.
var Disruptions = map[string]By{
	"EvictionByEvictionAPI":  ByEviction,
	"PreemptionByScheduler":  ByPreemption,
	"DeletionByTaintManager": ByTaint,
	"DeletionByPodGC":        ByNodeGone,
	"TerminationByKubelet":   ByKubelet,

	"DeletionByDeviceTaintManager": ByDevice,
}

// DisruptedBy returns what ended the pod by its condition DisruptionTarget; ByNobody if it has no such condition.
func (t *Try) DisruptedBy() By {
	if t.Disrupted == nil {
		return ByNobody
	}
	return cmp.Or(Disruptions[t.Disrupted.Reason], ByOther)
}

// Disruption returns what ended the pod, as its condition DisruptionTarget says it. The pod must have this condition.
func (t *Try) Disruption() Ending {
	e := Ending{By: t.DisruptedBy(), Why: t.Disrupted.Message, Marks: explain.Marks(t.DisruptedAt)}
	switch e.By {
	case ByEviction:
		e.Unsaid = explain.ByWhom
	case ByPreemption:
		e.Unsaid = "for which pod is unknown"
	case ByDevice:
		e.Unsaid = "who set it is unknown"
	case ByKubelet:
		if strings.Contains(e.Why, "shutdown") {
			e.Unsaid = "who shut the node down is unknown"
		}
	}
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

// withMessage returns text and the message after it; only text if the message is empty.
func withMessage(text, message string) string {
	if message == "" {
		return text
	}
	return text + ": " + message
}

// Disruption reports whether the pod was disrupted: ended by something other than itself and its Job's controller, such
// as an eviction.
func (b By) Disruption() bool {
	switch b {
	case ByKubelet, ByEviction, ByPreemption, ByTaint, ByDevice, ByOther, ByNodeGone:
		return true
	}
	return false
}

// Own reports whether the pod ended by itself: its containers ended, or it exceeded a limit in its own spec.
func (b By) Own() bool {
	return b == ByItself || b == BySignal || b == ByOwnLimit || b == ByDeadline
}

// DeletedFirst reports whether the pod was already being deleted when it was evicted, preempted or removed for a taint.
// Otherwise the disruption sets the condition DisruptionTarget first, and then requests the deletion.
func (t *Try) DeletedFirst() bool {
	if t.Disrupted == nil || t.AskedSeen.Record == 0 || t.AskedSeen.Record >= t.DisruptedAt.Record {
		return false
	}
	switch t.DisruptedBy() {
	case ByEviction, ByPreemption, ByTaint, ByDevice, ByOther:
		return true
	}
	// A kubelet and pod garbage collection may set the condition after a deletion has begun, so the order proves
	// nothing.
	return false
}

// EndedFirst reports whether the pod ended before its deletion was requested, so that the deletion did not end it. If
// again is set, failed containers are restarted: such a pod has not ended even while none of its containers runs.
func (t *Try) EndedFirst(again bool) bool {
	if t.Ended.Record == 0 {
		return false
	}
	asked := t.AskedSeen.Record != 0 && t.AskedSeen.Record <= t.Ended.Record
	ended := t.containersEnded()
	if asked && t.AskedExact && ended != 0 && ended.Add(time.Second) < t.Asked && !again {
		// One record may show both the request and the end. If, by the node's clock, all containers ended before the
		// request, the pod ended first.
		asked = false
	}
	disrupted := t.Disrupted != nil && t.DisruptedAt.Record <= t.Ended.Record
	return !asked && !disrupted
}

// containersEnded returns when the last regular container ended, by the node's clock; 0 if the end of one is not
// reported. The pod's condition Ready does not tell this, because a pod that never started was never ready.
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

func Itself(t *Try) Ending {
	e := Ending{By: ByItself, Marks: explain.Marks(t.Ended, t.ShownBy())}
	switch {
	case t.Phase == events.PodSucceeded:
		e.Why = "success"
	case t.OwnLimit() != "":
		if e.By, e.Why = ByOwnLimit, t.OwnLimit(); t.Reason == "DeadlineExceeded" {
			e.By, e.Why = ByDeadline, e.Why+t.Deadline
			if t.DeadlineFrom.Record != 0 {
				e.Marks = append(e.Marks, t.DeadlineFrom)
			}
		}
	case t.Placed.Record != 0 && (t.Reason != "" && len(Failures(t.Containers)) == 0 || NodeReasons[t.Reason]):
		e.By, e.Why = ByKubelet, words.Because(t.Reason, t.Message)
		if e.Rejected = verdict.Rejection(t.Reason) || strings.HasPrefix(t.Message, NotAdmitted); e.Rejected {
			e.Why = words.Because(t.Reason, strings.TrimPrefix(t.Message, NotAdmitted))
			if t.Reason == "OutOfcpu" {
				e.Why += " (1000 is one CPU)"
			}
		}
	case t.lost():
		e.By, e.Why = ByUnknown, ExitText(t)
		if !slices.ContainsFunc(t.Containers, lost) {
			e.Why, e.Missing = "its status says that it failed: "+e.Why, "how its containers ended"
		}
	default:
		e.Why = ExitText(t)
		if t.signalled() {
			e.By = BySignal
		}
	}
	return e
}

// NotAdmitted begins a kubelet's message about a pod that it refuses to run.
const NotAdmitted = "Pod was rejected: "

// signalled reports whether a container ended with exit code 137 (SIGKILL) and the node does not say why.
func (t *Try) signalled() bool {
	return slices.ContainsFunc(Failures(t.Containers), func(c events.ContainerEnd) bool {
		return c.ExitCode == 128+int32(syscall.SIGKILL) && !words.Telling(c.Reason)
	})
}

// lost reports whether it is unknown how the containers of a failed pod ended: none has a known exit code other than 0.
func (t *Try) lost() bool {
	return len(Failures(t.Containers)) == 0
}

// NodeReasons has the values of status.reason with which a kubelet ends a pod.
var NodeReasons = map[string]bool{
	"Evicted": true, "NodeShutdown": true, "Terminated": true, "Preempting": true, "NodeAffinity": true, "OutOfcpu": true,
	"OutOfmemory": true,
	"OutOfpods":   true, "UnexpectedAdmissionError": true, "Shutdown": true, "NodeLost": true,
}

// ownLimits has beginnings of the kubelet's messages for the reason Evicted. They say that the pod exceeded a limit in
// its own spec; other messages say that the node lacked a resource (localStorageEviction in pkg/kubelet/eviction).
var ownLimits = []string{"Usage of EmptyDir volume", "Pod ephemeral local storage usage exceeds", "Container "}

const OwnDeadline = "the pod's own activeDeadlineSeconds passed"

// OwnLimit returns the limit in the pod's own spec for which the kubelet stopped the pod; empty if there is none.
func (t *Try) OwnLimit() string {
	switch {
	case t.Reason == "DeadlineExceeded":
		return OwnDeadline
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
