package controller

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/retries"
)

// TestProbesSayHowManyJobsWaitForTheirGang: whatever their commands are; other commands are no matter of gangs (J-242).
func TestProbesSayHowManyJobsWaitForTheirGang(t *testing.T) {
	counts := map[retries.RefusedKind]int{{Command: "CreatePod", Class: events.RefusedQuota}: 7, {Command: "FindGroup", Class: events.RefusedServer}: 0}
	if says := gangsRefused(counts); says != "" {
		t.Errorf("without a gang that waits it says %q", says)
	}
	counts[retries.RefusedKind{Command: "CreateWorkload", Class: events.RefusedForbidden}] = 2
	counts[retries.RefusedKind{Command: "ResizeGroup"}] = 1
	says := gangsRefused(counts)
	for _, part := range []string{"PodGroup: 3 (", "Forbidden: 2", "unknown: 1"} {
		if !strings.Contains(says, part) {
			t.Errorf("it says %q, without %q", says, part)
		}
	}
}
