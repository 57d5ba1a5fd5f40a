package projector

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestNothingIsKeptOfWhatIsOver: when a Job is over, its spec and the places of its pods are forgotten. Otherwise the
// cost at rest would grow with history.
func TestNothingIsKeptOfWhatIsOver(t *testing.T) {
	for _, row := range []struct {
		name string
		ends func(r *randomJob)
	}{
		{"it retires", func(r *randomJob) { r.record(events.KindJobRetired, &events.JobRetired{}) }},
		{"its object is gone, and its pods have ended", func(r *randomJob) {
			r.record(events.KindJobDeleted, &events.JobGone{Version: 1e6})
			r.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 1e6 + 1})
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRandomJob(1)
			r.record(events.KindPodAdded, &events.PodSeen{UID: "pod", Version: 5, Phase: events.PodRunning, Owner: "job", Selected: true})
			if len(r.world.homes) != 1 {
				t.Fatalf("%d pods are somewhere, want 1", len(r.world.homes))
			}
			row.ends(r)
			r.apply(events.Controller, events.KindStateStored, &events.StoredState{}) // a file begins
			if w := r.world; w.Len() != 0 || len(w.homes) != 0 || w.specs.Len() != 0 {
				t.Errorf("%d Jobs, %d pods and %d specs are left", w.Len(), len(w.homes), w.specs.Len())
			}
		})
	}
}
