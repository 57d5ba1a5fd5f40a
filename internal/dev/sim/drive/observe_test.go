package drive_test

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestSeedsBesideOthers runs the delegated Jobs, and observes Jobs of others in the same namespaces, with every
// disturbance. Package invariants checks that no write is about a Job of another controller, or its pods (J-005,
// J-007). Each of our Jobs comes to the same end as without the others. The log replays after crashes, and no decision
// is about an observed Job.
func TestSeedsBesideOthers(t *testing.T) {
	t.Parallel()
	observed := 0
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.Settings.ObserveOthers = true
			cfg.Crash, cfg.Stop = 0.006, 0.003
			if seed%2 == 0 {
				cfg.World.UserChance, cfg.World.UsersOff = 0.1, some(seed)
			}
			if seed%5 == 0 {
				cfg.LoseLog = 0.3
			}
			if seed%3 == 0 {
				cfg.Files, cfg.Snapshot = 8<<10, 20
			}
			all := jobs(seed)
			for i, j := range jobs(seed) {
				j.Name = fmt.Sprintf("theirs-%d", i)
				j.Spec.ManagedBy = nil
				if i%3 == 2 {
					j.Spec.ManagedBy = new("example.com/other")
				}
				all = append(all, j)
			}
			d := runJobs(t, cfg, all)
			for rec, err := range d.Log().Read(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				if f, ok := rec.Facts.(*events.JobSeen); ok && f.Managed && f.ManagedBy != events.ManagedBy {
					observed++
				}
			}
		})
	}
	t.Cleanup(func() {
		if observed == 0 {
			t.Error("no Job of others was recorded")
		}
	})
}
