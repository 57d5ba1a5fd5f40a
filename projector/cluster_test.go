package projector_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/projector/intake"
)

// TestNothingAroundIsRecordedTwice: a state of a node or a namespace that the log already has gives no record, also
// after a restart from a stored state.
func TestNothingAroundIsRecordedTwice(t *testing.T) {
	lost := &events.NodeSeen{Name: "a", UID: "1", Ready: events.NodeUnheard, Since: 5}
	back := &events.NodeSeen{Name: "a", UID: "1", Ready: events.NodeReady}
	going := &events.NamespaceSeen{Name: "n", UID: "3", Deleted: 7}
	on := &events.ClusterWatched{Nodes: events.WatchingOn, Namespaces: events.WatchingDenied}

	w := projector.NewWorld()
	at := events.Sequence(0)
	admit := func(f events.Facts) int {
		in := intake.Intake{World: w, FileStart: 1}
		drafts := in.Admit(&events.Observation{Facts: f}, at+1)
		for _, d := range drafts {
			at++
			w.Apply(&events.Record{
				Header: events.Header{Sequence: at, Time: events.Time(at), Stream: d.Stream, Kind: d.Kind}, Facts: d.Facts,
			})
		}
		return len(drafts)
	}
	expect := func(f events.Facts, want int) {
		t.Helper()
		if got := admit(f); got != want {
			t.Errorf("%T gives %d records, want %d", f, got, want)
		}
	}
	expect(back, 0) // the node is ready, and no record says otherwise
	for _, f := range []events.Facts{lost, going, on} {
		expect(f, 1)
		expect(f, 0)
	}
	stored := w.ControllerState()
	again, _, err := projector.Restore([]projector.StreamAt{{Stream: events.Controller, AsOf: at, Facts: stored}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored, again.ControllerState()); diff != "" {
		t.Errorf("the state does not come back as it was: %s", diff)
	}
	w = again
	for _, f := range []events.Facts{lost, going, on} {
		expect(f, 0)
	}
	if diff := cmp.Diff([]*events.NodeSeen{lost}, w.OutOfOrder()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]*events.NamespaceSeen{going}, w.GoingNamespaces()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	expect(back, 1)
	expect(&events.NamespaceSeen{Name: "n", UID: "3", Gone: true}, 1)
	if len(w.OutOfOrder())+len(w.GoingNamespaces()) != 0 {
		t.Error("what is in order, and what is gone, takes room")
	}
}
