package drive_test

import "testing"

// TestSeedsOfStandbys kills the process often. The next one begins with the world that a standby folded in the
// meantime, across starts, files, snapshots and lost keys, or with a recovery. The two are compared at each start. All
// invariants hold as after a restart.
func TestSeedsOfStandbys(t *testing.T) {
	t.Parallel()
	warm := 0
	for seed := range uint64(seeds(t, 4)) {
		cfg := config(seed)
		cfg.Crash, cfg.Stop, cfg.LoseKey = 0.02, 0.005, 0.1
		if seed%2 == 0 {
			cfg.Files, cfg.Snapshot = 8<<10, 50
		}
		warm += runJobs(t, cfg, jobs(seed)).Warm()
	}
	t.Logf("%d processes began with the world of a standby", warm)
	if warm < seeds(t, 4) {
		t.Error("standbys hardly took over")
	}
}
