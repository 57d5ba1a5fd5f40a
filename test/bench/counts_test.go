package bench

import (
	"strings"
	"testing"
)

// TestWhatAPodCosts holds what Jobledger asks of the API server for each pod, and how often it commits, to what it was.
// 'make bench-quick' does the same for all workloads. Time is not judged. (Syncs per commit are counted in store/boltlog,
// allocations per folded event in projector and reconciler.)
func TestWhatAPodCosts(t *testing.T) {
	report, err := Run(t.Context(), Config{Quick: true, Contenders: []string{Ours}, Workloads: []string{"w1", "w3", "w3i"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range append(report.Wrong(), report.Grown()...) {
		t.Error(line)
	}
	for _, o := range report.Outcomes {
		for _, lap := range o.Laps[Ours] {
			t.Logf("%s in %.2f s, others had %.0f %% of the machine: for each pod %v, %.2f commits",
				o.Workload, lap.Figures[keyWall], 100*lap.Others, lap.Requests, lap.Figures[keyCommits])
		}
	}
}

func TestCountsThatGrewAreFound(t *testing.T) {
	lap := func(writes, patches, lists, commits float64) Lap {
		return Lap{
			Jobs: 1, Pods: 400, Figures: map[string]float64{keyWall: 1.5, keyCommits: commits},
			Requests: map[string]float64{
				"create pods": 1, "patch pods": patches / 400, "update jobs/status": writes / 400, "list pods": lists / 400,
			},
		}
	}
	for _, row := range []struct {
		sentence string
		lap      Lap
		want     string
	}{
		{"two writes, and one each second", lap(5, 400, 0, 0.2), ""},
		{"a write more", lap(6, 400, 0, 0.2), "update jobs/status"},
		{"a pod that is patched twice", lap(5, 401, 0, 0.2), "patch pods"},
		{"some that are read", lap(5, 400, 9, 0.2), "list pods"},
		{"a commit for nothing", lap(5, 400, 0, 0.4), "commits"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			r := Report{Outcomes: []*Outcome{{Workload: "w3", Laps: map[string][]Lap{Ours: {row.lap}}}}}
			lines := r.Grown()
			if row.want == "" && len(lines) > 0 || row.want != "" && (len(lines) != 1 || !strings.Contains(lines[0], row.want)) {
				t.Errorf("%q, want one line about %q", lines, row.want)
			}
		})
	}
}
