package projector_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// TestAMissedDeletionNamesThePod: an informer that finds a pod absent from a list knows its UID only; the record names it as
// the log knew it, for people who read it when the pod is long gone.
func TestAMissedDeletionNamesThePod(t *testing.T) {
	f := newFold()
	f.record(events.KindPodAdded, pod(nil))
	intake := projector.Intake{World: f.world}
	drafts := intake.Admit(&events.Observation{
		Facts: &events.PodGone{UID: "pod", Version: 30, Missed: true}, Evidence: events.Evidence{Namespace: "ns"},
	}, f.seq+1)
	if len(drafts) != 1 || drafts[0].Kind != events.KindPodDeleted {
		t.Fatalf("got %+v, want one PodDeleted", drafts)
	}
	if e := drafts[0].Evidence; e.Name != "demo-0" || e.Namespace != "ns" {
		t.Errorf("the record is about %q/%q, want ns/demo-0", e.Namespace, e.Name)
	}
}
