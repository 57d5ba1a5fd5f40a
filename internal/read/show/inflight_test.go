package show_test

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestWhatIsInFlightIsShown: adoptions and releases, and commands about a group, as all others (J-175, J-242).
func TestWhatIsInFlightIsShown(t *testing.T) {
	x := newTold(2, 2)
	x.job(&events.JobStatus{Ready: events.Unset, Terminating: events.Unset})
	x.add(toldJob, events.KindPodAdded, &events.PodSeen{
		UID: "p", Version: 5, Phase: events.PodRunning, Owner: "uid", Index: 0, Ordinal: 1,
	}, events.Evidence{Namespace: "ns", Name: "demo-0"})
	x.decide(&events.ReleasePod{Pod: "p", Version: 5})
	x.decide(&events.CreateWorkload{MinCount: 2})
	page := x.says(t, 0)
	for _, what := range []string{"release pod demo-0, decided", "create Workload for a gang of 2, decided"} {
		if !strings.Contains(page, what) {
			t.Errorf("it is not shown that it is in flight: %s\n%s", what, page)
		}
	}
}
