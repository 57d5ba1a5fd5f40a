package observation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// TestWhatAKubeletSaysOfASandbox: for a pod that waits for its containers the observation has a code, and a text only
// if the message is a new one. For a pod that has ended it has nothing.
func TestWhatAKubeletSaysOfASandbox(t *testing.T) {
	notReady := func(message string) corev1.PodCondition {
		return corev1.PodCondition{
			Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse, Reason: "PodSandboxNotReady", Message: message,
			LastTransitionTime: metav1.NewTime(epoch),
		}
	}
	for _, row := range []struct {
		name, waits string
		phase       corev1.PodPhase
		condition   corev1.PodCondition
		want        events.Sandbox
		said        string // beside the word
		texts       int
	}{
		{"volumes are mounted", creating, corev1.PodPending, notReady("no pod sandbox exists"), events.SandboxNone, "no pod sandbox exists", 0},
		{"the network plugin fails", creating, corev1.PodPending, notReady("pod sandbox has no IP address"), events.SandboxNoAddress, "pod sandbox has no IP address", 0},
		{"an init container is to be made", initializing, corev1.PodPending, notReady("pod sandbox is not ready"), events.SandboxNotReady, "pod sandbox is not ready", 0},
		{"a later kubelet says more", creating, corev1.PodPending, notReady("pod sandbox is on the moon"), events.SandboxOther, "pod sandbox is on the moon", 1},
		{"images are pulled", creating, corev1.PodPending, corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue}, events.SandboxReady, "", 0},
		{"init containers run", initializing, corev1.PodPending, corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue}, events.SandboxUnsaid, "", 0},
		{"a kubelet of 1.36", creating, corev1.PodPending, corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse}, events.SandboxUnsaid, "", 0},
		{"it has ended", "", corev1.PodSucceeded, notReady("no pod sandbox exists"), events.SandboxUnsaid, "", 0},
		{"it has ended, in words that are new", "", corev1.PodFailed, notReady("pod sandbox is on the moon"), events.SandboxUnsaid, "", 0},
		{"its image cannot be pulled", "ErrImagePull", corev1.PodPending, notReady("pod sandbox is not ready"), events.SandboxUnsaid, "", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			pod := testPod("a")
			pod.Status.Phase, pod.Status.Conditions = row.phase, []corev1.PodCondition{row.condition}
			if row.waits != "" {
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
					Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: row.waits}},
				}}
			}
			read, err := kubewire.Pods.Of(pod)
			if err != nil {
				t.Fatal(err)
			}
			f := readPod(read, 1, testIdentity)
			if f.seen.Sandbox != row.want || len(f.evidence.Conditions) != row.texts {
				t.Errorf("sandbox %d, want %d; texts %+v", f.seen.Sandbox, row.want, f.evidence.Conditions)
			}
			if got := words.WaitMessage(&f.seen, &f.evidence); got != row.said {
				t.Errorf("beside the word %q, want %q", got, row.said)
			}
		})
	}
}
