package drive_test

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
)

// TestSeedsOfTurns lets two controllers, each with its own log, take turns on one cluster. One is stopped or killed.
// The other goes on from its own log and from the cluster as it is. Nothing is counted twice or forgotten, no pod is
// one too many, and no finalizer stays (O-008). In every other seed the controllers replace the built-in one.
func TestSeedsOfTurns(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.HandOver = []float64{0.004, 0.01, 0.03}[seed%3]
			if seed%5 == 0 {
				cfg.LoseLog = 0.2
			}
			switch seed % 4 {
			case 0:
				cfg.World.UserChance, cfg.World.UsersOff = 0.1, some(seed)
			case 1:
				cfg.World.UserChance, cfg.World.UsersOff, cfg.World.Kubelet.RunTime = 0.15, noClaims, upTo(60)
			}
			jobs := jobs(seed)
			if seed%2 == 0 {
				cfg.Settings.Mode = events.ModeAll
				unmanaged(jobs)
			}
			runJobs(t, cfg, jobs)
		})
	}
}

// unmanaged gives the Jobs to the built-in controller.
func unmanaged(jobs []*batchv1.Job) {
	for _, job := range jobs {
		job.Spec.ManagedBy = nil
	}
}
