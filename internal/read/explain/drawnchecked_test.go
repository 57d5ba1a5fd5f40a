package explain_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/explain/explaintest"
)

// checkedScenes are so many scenes whose answers are held against their records. TestDrawnScenes has others.
const (
	firstChecked  = 5000
	checkedScenes = 100
)

// unlike are rules that a drawn scene does not keep: what its statuses count is no count of its pods, and what the
// fates of its due times say of gaps, no gap of its records.
var unlike = []string{"counts other than the status", "calls its history complete, and says that it was not watched"}

// TestDrawnScenesAreToldTrue: nothing that is said of a Job, a pod or a CronJob of a drawn scene contradicts its
// records. Where the clock is set, a deadline moves with it, and no record holds its end. make test draws every third
// scene.
func TestDrawnScenesAreToldTrue(t *testing.T) {
	sentences := 0
	for i := 0; i < checkedScenes; i += effort.Step(3) {
		seed := uint64(firstChecked + i)
		ours := seed%2 == 0
		l := listOf(t, drawPlain(newScene(t, ours), seed, 10+int(seed)%drawnDeeds, ours).source())
		r, err := explaintest.Check(t.Context(), l.source())
		if err != nil {
			t.Fatalf("the scene of seed %d: %v", seed, err)
		}
		sentences += r.Sentences
		for _, f := range r.Findings {
			moved := stepped(l) && strings.Contains(f.Says, "activeDeadlineSeconds, until")
			if slices.Contains(unlike, f.Rule) || moved {
				continue
			}
			t.Errorf("the scene of seed %d: %s", seed, f)
		}
	}
	if sentences < 10_000/effort.Step(3) {
		t.Errorf("only %d sentences were held against records", sentences)
	}
}

// stepped reports whether the clock was set.
func stepped(l list) bool {
	return slices.ContainsFunc(l.records, func(r events.Record) bool { return r.Kind == events.KindClockStepped })
}
