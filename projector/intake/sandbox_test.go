package intake

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// TestASandboxIsAWord: progress of the kubelet with a pod's sandbox leads to no record of its own.
func TestASandboxIsAWord(t *testing.T) {
	seen := events.PodSeen{Phase: events.PodPending, Waiting: "ContainerCreating", Sandbox: events.SandboxNone}
	p := &projector.Pod{PodSeen: seen}
	seen.Sandbox = events.SandboxNoAddress
	if !samePod(nil, p, &seen) || !otherWords(p, &seen) {
		t.Errorf("the same pod: %t, with other words: %t", samePod(nil, p, &seen), otherWords(p, &seen))
	}
}
