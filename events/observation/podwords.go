package observation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// maxWords bounds the conditions, waiting containers and finalizers that are reported of one object.
const maxWords = 8

// Reasons of conditions and containers that only say that something has not happened yet.
var generic = []string{"ContainersNotReady", "ContainersNotInitialized", "PodCompleted", "PodFailed"}

const (
	creating     = "ContainerCreating"
	initializing = "PodInitializing"
)

// waitingFor returns in one word why a pod that has not ended does not run; empty without a reason. The scheduler's
// reason comes first. Next comes the reason of the first container that waits for something unusual, which neither its
// creation (ContainerCreating) nor the containers before it (PodInitializing) is. Otherwise it is the reason of the
// last container.
func waitingFor(pod *kubewire.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason != "" {
			return bounded(c.Reason, maxReason)
		}
	}
	word := ""
	for _, list := range [][]kubewire.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, c := range list {
			switch w := c.State.Waiting; {
			case w == nil || w.Reason == "":
			case w.Reason != creating && w.Reason != initializing:
				return bounded(w.Reason, maxReason)
			default:
				word = w.Reason
			}
		}
	}
	return word
}

// sandboxNotReady is the reason of the condition PodReadyToStartContainers while there is no ready sandbox: before a
// pod starts, and after it has ended.
const sandboxNotReady = "PodSandboxNotReady"

func ofSandbox(c *corev1.PodCondition) bool {
	return c.Type == corev1.PodReadyToStartContainers && c.Reason == sandboxNotReady
}

// sandboxOf returns the state of the sandbox of a pod that waits for its containers to be created.
func sandboxOf(pod *kubewire.Pod, waiting string) events.Sandbox {
	if waiting != creating && waiting != initializing {
		return events.SandboxUnsaid
	}
	for _, c := range pod.Status.Conditions {
		switch {
		case ofSandbox(&c):
			return events.SandboxOf(c.Message)
		case c.Type == corev1.PodReadyToStartContainers && c.Status == corev1.ConditionTrue && waiting == creating:
			return events.SandboxReady
		}
	}
	return events.SandboxUnsaid
}

// podEvidence returns the evidence about a pod, with bounded texts. For a restarted container it has the last end.
func podEvidence(pod *kubewire.Pod) events.Evidence {
	e := events.Evidence{
		Namespace:  pod.Namespace,
		Name:       pod.Name,
		Node:       pod.Spec.NodeName,
		Reason:     bounded(pod.Status.Reason, maxReason),
		Message:    bounded(pod.Status.Message, maxMessage),
		Running:    runningSince(pod),
		Conditions: conditionTexts(pod),
		Finalizers: othersFinalizers(pod),
		Gates:      gates(pod),
		StillRun:   stillRun(pod),
	}
	for i := range pod.Status.ContainerStatuses {
		addContainer(&e, &pod.Status.ContainerStatuses[i], events.RegularContainer)
	}
	for i := range pod.Status.InitContainerStatuses {
		kind := events.InitContainer
		if slices.Contains(pod.Spec.Sidecars, pod.Status.InitContainerStatuses[i].Name) {
			kind = events.SidecarContainer
		}
		addContainer(&e, &pod.Status.InitContainerStatuses[i], kind)
	}
	e.Containers = fewContainers(e.Containers)
	return e
}

const (
	maxContainers = 64       // containers of a pod whose ends are reported
	maxMessages   = 16 << 10 // total bytes of messages; the kubelet keeps 12 KiB
	others        = "…"      // name of the entry for the omitted containers
)

// fewContainers returns the first maxContainers of a pod's containers, failed ones first. A last entry counts the
// omitted ones. It cuts messages that exceed what a kubelet keeps.
func fewContainers(all []events.ContainerEnd) []events.ContainerEnd {
	if len(all) > maxContainers {
		few := make([]events.ContainerEnd, 0, maxContainers+1)
		for _, failed := range []bool{true, false} {
			for _, c := range all {
				if (c.ExitCode != 0) == failed && len(few) < maxContainers {
					few = append(few, c)
				}
			}
		}
		all = append(few, events.ContainerEnd{Name: others, Message: fmt.Sprintf("%d more containers ended", len(all)-maxContainers)})
	}
	left := maxMessages
	for i := range all {
		c := &all[i]
		if len(c.Message) > left {
			c.Message = bounded(c.Message, maxReason)
		}
		left -= min(left, len(c.Message))
	}
	return all
}

// addContainer adds the last end of a container. It also adds the reason why the container waits, unless that is only
// its creation or that of the containers before it.
func addContainer(e *events.Evidence, c *kubewire.ContainerStatus, kind events.ContainerKind) {
	t, again := c.State.Terminated, false
	if t == nil {
		t, again = c.LastTerminationState.Terminated, true
	}
	if t != nil {
		e.Containers = append(e.Containers, events.ContainerEnd{
			Name:     bounded(c.Name, maxName),
			ExitCode: t.ExitCode,
			Reason:   bounded(t.Reason, maxReason),
			Message:  bounded(t.Message, maxTermination),
			Kind:     kind,
			Started:  instant(&t.StartedAt),
			Finished: instant(&t.FinishedAt),
			Restarts: uint32(max(c.RestartCount, 0)),
			Again:    again,
		})
	}
	w := c.State.Waiting
	if w == nil || len(e.Waits) == maxWords || (w.Message == "" && (w.Reason == "" || w.Reason == creating || w.Reason == initializing)) {
		return
	}
	e.Waits = append(e.Waits, events.ContainerWait{
		Name: bounded(c.Name, maxName), Reason: bounded(w.Reason, maxReason), Message: bounded(w.Message, maxMessage), Kind: kind,
	})
}

// runningSince returns the start of the last of a pod's regular containers if all run; else 0.
func runningSince(pod *kubewire.Pod) events.Time {
	var latest events.Time
	for i := range pod.Status.ContainerStatuses {
		r := pod.Status.ContainerStatuses[i].State.Running
		if r == nil {
			return 0
		}
		latest = max(latest, instant(&r.StartedAt))
	}
	return latest
}

// gates returns the names of a pod's scheduling gates.
func gates(pod *kubewire.Pod) []string {
	var names []string
	for _, g := range pod.Spec.Gates[:min(len(pod.Spec.Gates), maxWords)] {
		names = append(names, bounded(g, maxReason))
	}
	return names
}

// stillRun returns the containers that delay a pod. After a regular container has ended for good, these are all
// containers that still run. While the regular containers wait for the init containers, these are the init containers
// that run, except sidecars that have started.
func stillRun(pod *kubewire.Pod) (names []string) {
	regular, initial := pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses
	ended := slices.ContainsFunc(regular, func(c kubewire.ContainerStatus) bool { return c.State.Terminated != nil })
	waits := slices.ContainsFunc(regular, func(c kubewire.ContainerStatus) bool {
		return c.State.Waiting != nil && c.State.Waiting.Reason == initializing
	})
	for _, c := range slices.Concat(regular, initial) {
		holds := ended || waits && !(c.Started && slices.Contains(pod.Spec.Sidecars, c.Name))
		if holds && c.State.Running != nil && len(names) < maxWords {
			names = append(names, bounded(c.Name, maxName))
		}
	}
	return names
}

// conditionTexts returns the texts of a pod's conditions. It omits the conditions that every starting pod passes
// through, unless they say why the pod got no further.
func conditionTexts(pod *kubewire.Pod) []events.ConditionText {
	var texts []events.ConditionText
	for _, c := range pod.Status.Conditions {
		asExpected := slices.Contains(progress, string(c.Type)) && (c.Status == corev1.ConditionTrue || slices.Contains(generic, c.Reason)) ||
			ofSandbox(&c) && (phaseOf(pod.Status.Phase).Terminal() || events.SandboxOf(c.Message) != events.SandboxOther)
		if asExpected || (c.Reason == "" && c.Message == "") {
			continue
		}
		if texts = append(texts, events.ConditionText{
			Type: bounded(string(c.Type), maxReason), Status: string(c.Status), Reason: bounded(c.Reason, maxReason),
			Message: bounded(c.Message, maxMessage), Since: events.At(c.LastTransitionTime.Time),
		}); len(texts) == maxWords {
			break
		}
	}
	return texts
}

// othersFinalizers returns the finalizers of an object that is being deleted, without the tracking finalizers of Job
// controllers.
func othersFinalizers(o metav1.Object) []string {
	if o.GetDeletionTimestamp() == nil {
		return nil
	}
	var others []string
	for _, f := range o.GetFinalizers() {
		if f != events.TrackingFinalizer && f != events.BuiltinTrackingFinalizer && len(others) < maxWords {
			others = append(others, bounded(f, maxReason))
		}
	}
	return others
}
