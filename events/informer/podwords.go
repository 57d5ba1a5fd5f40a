package informer

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// maxWords is how many conditions, waiting containers and finalizers of one object are told.
const maxWords = 8

// Reasons that say no more than that something has not come so far, of conditions and of containers.
var generic = []string{"ContainersNotReady", "ContainersNotInitialized", "PodCompleted", "PodFailed"}

const (
	creating     = "ContainerCreating"
	initializing = "PodInitializing"
)

// waitingFor is why a pod that has not ended does not run, in a word: the scheduler's, else that of the first container
// that says more than that it is being created or that those before it have not ended, else that of the last container.
// It is empty when nothing says so.
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

// sandboxNotReady is the reason of the condition PodReadyToStartContainers of a pod without a sandbox that is ready:
// before it starts, and when it has ended.
const sandboxNotReady = "PodSandboxNotReady"

func ofSandbox(c *corev1.PodCondition) bool {
	return c.Type == corev1.PodReadyToStartContainers && c.Reason == sandboxNotReady
}

// sandboxOf is how far the kubelet is with the sandbox of a pod that waits for its containers to be made.
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

// podEvidence is what people want to know of a pod, bounded. Of a container that runs again it is how it ended last.
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
	maxContainers = 64       // of one pod whose ends are told
	maxMessages   = 16 << 10 // bytes of all their messages; the kubelet takes 12 KiB
	others        = "…"      // stands for the containers that are left out
)

// fewContainers are the ends of a pod's containers that are told: of very many those that failed come first. The last
// entry says how many are left out. Longer messages than a kubelet takes are cut.
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

// addContainer tells how a container ended last, and why it waits, if it does and says more than that it is being
// created.
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

// runningSince is when the last of a pod's regular containers was started, while all of them run; 0 when they do not.
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

// gates are the names of a pod's scheduling gates.
func gates(pod *kubewire.Pod) []string {
	var names []string
	for _, g := range pod.Spec.Gates[:min(len(pod.Spec.Gates), maxWords)] {
		names = append(names, bounded(g, maxReason))
	}
	return names
}

// stillRun are the containers that run although a regular one has ended for good.
func stillRun(pod *kubewire.Pod) []string {
	ended := func(c kubewire.ContainerStatus) bool { return c.State.Terminated != nil }
	if !slices.ContainsFunc(pod.Status.ContainerStatuses, ended) {
		return nil
	}
	var names []string
	for _, list := range [][]kubewire.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			if list[i].State.Running != nil && len(names) < maxWords {
				names = append(names, bounded(list[i].Name, maxName))
			}
		}
	}
	return names
}

// conditionTexts is what a pod's conditions say: those of its way to running only where they say why it got no further.
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

// othersFinalizers are those that keep an object which is being deleted, other than the ones that Jobs' controllers
// set.
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
