package projector

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestASandboxIsAWord: that the kubelet is further with a pod's sandbox is no news but words.
func TestASandboxIsAWord(t *testing.T) {
	seen := events.PodSeen{Phase: events.PodPending, Waiting: "ContainerCreating", Sandbox: events.SandboxNone}
	p := &Pod{PodSeen: seen}
	seen.Sandbox = events.SandboxNoAddress
	if !samePod(nil, p, &seen) || !otherWords(p, &seen) {
		t.Errorf("the same pod: %t, with other words: %t", samePod(nil, p, &seen), otherWords(p, &seen))
	}
}
