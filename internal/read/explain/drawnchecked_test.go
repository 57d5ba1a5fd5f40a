package explain_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/explaintest"
)

// checkedScenes are so many scenes whose answers are held against their records. TestDrawnScenes has others.
const (
	firstChecked  = 5000
	checkedScenes = 100
)

// TestDrawnScenesAreToldTrue: nothing that is said of a Job or a pod of a drawn scene contradicts its records. Of
// CronJobs nothing is held there: what is drawn of their due times is no due time of their schedules. What a drawn
// status counts is no count of the drawn pods. Where the clock is set, a deadline moves with it, and no record holds
// its end.
func TestDrawnScenesAreToldTrue(t *testing.T) {
	sentences := 0
	for seed := range uint64(checkedScenes) {
		seed += firstChecked
		l := listOf(t, drawScene(newScene(t, seed%2 == 0), seed, 10+int(seed)%drawnDeeds).source())
		r, err := explaintest.Check(t.Context(), l.source())
		if err != nil {
			t.Fatalf("the scene of seed %d: %v", seed, err)
		}
		sentences += r.Sentences
		for _, f := range r.Findings {
			moved := stepped(l) && strings.Contains(f.Says, "activeDeadlineSeconds, until")
			if strings.HasPrefix(f.Of, "cronjob") || f.Rule == "counts other than the status" || moved {
				continue
			}
			t.Errorf("the scene of seed %d: %s", seed, f)
		}
	}
	if sentences < 10_000 {
		t.Errorf("only %d sentences were held against records", sentences)
	}
}

// stepped reports whether the clock was set.
func stepped(l list) bool {
	return slices.ContainsFunc(l.records, func(r events.Record) bool { return r.Kind == events.KindClockStepped })
}
