package bench

import (
	"math"
	"testing"
)

// TestWhatAPodCosts holds what Jobledger asks of the API server for each pod, and how often it commits, to what it was.
// Time is not judged, but it is looked at where it makes a difference: what takes longer than a second publishes progress,
// and what is seen meanwhile is written down every 100 ms at the latest. (Syncs per commit are counted in store/boltlog,
// allocations per folded event in reconciler.)
func TestWhatAPodCosts(t *testing.T) {
	report, err := Run(t.Context(), Config{Quick: true, Contenders: []string{Ours}, Workloads: []string{"w1", "w3", "w3i"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range report.Wrong() {
		t.Error(line)
	}
	for _, row := range []struct {
		name, workload string
		pods           float64
		status         float64 // writes of status that depend on nothing, in all
		each           float64 // and for each pod
		commits        float64 // for each pod
	}{
		{name: "a Job of one pod costs one write of its status and four commits", workload: "w1", pods: 8, each: 1, commits: 4},
		{name: "a large Job costs a write of its status at most for each 25 pods", workload: "w3", pods: 400, status: 2, each: 1. / 25, commits: 1},
		{name: "a large Indexed Job costs as much", workload: "w3i", pods: 400, status: 2, each: 1. / 25, commits: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			lap := report.lapOf(row.workload, Ours)
			if lap == nil || lap.Wrong != "" {
				t.Fatal("it has no result")
			}
			wall := lap.Figures[keyWall]
			t.Logf("in %.2f s, others had %.0f %% of the machine: for each pod %v, %.2f commits",
				wall, 100*lap.Others, lap.Requests, lap.Figures[keyCommits])
			limits := map[string]float64{
				"create pods":        1,
				"patch pods":         1,
				"update jobs/status": row.each + (row.status+math.Floor(2*wall))/row.pods,
				// Watches that the API server ended meanwhile, as it may at any time.
				"watch pods": math.Inf(1), "watch jobs": math.Inf(1),
			}
			for what, each := range lap.Requests {
				if limit := limits[what]; each > limit {
					t.Errorf("%q is asked %.4f times for each pod, more than %.4f", what, each, limit)
				}
			}
			if limit := row.commits + 10*wall/row.pods; lap.Figures[keyCommits] > limit {
				t.Errorf("%.3f commits for each pod, more than %.3f", lap.Figures[keyCommits], limit)
			}
		})
	}
}

// lapOf is the first lap of a workload by a contender, nil for none.
func (r *Report) lapOf(workload, contender string) *Lap {
	for _, o := range r.Outcomes {
		if o.Workload == workload && len(o.Laps[contender]) > 0 {
			return &o.Laps[contender][0]
		}
	}
	return nil
}
