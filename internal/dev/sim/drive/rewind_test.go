package drive_test

import (
	"fmt"
	"testing"
)

// TestSeedsOfRewinds restores the cluster from a backup again and again. The controller lives through it, or is killed
// and starts again. Its knowledge of the lost past never misleads it: in the restored cluster each pod is counted once
// and none is forgotten, no index gets a second pod, and no finalizer stays. The log says when the cluster went back,
// and replays without a divergence. Every other seed has small files and snapshots; some lose logs or let the Lease
// lapse.
func TestSeedsOfRewinds(t *testing.T) {
	t.Parallel()
	rewinds, found := uint64(0), uint64(0)
	defer func() {
		if t.Logf("%d rewinds, %d of them found", rewinds, found); found*3 < rewinds { // often nothing happened since the backup
			t.Error("too few rewinds were found")
		}
	}()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.Rewind = []float64{0.005, 0.01, 0.03}[seed%3]
			if seed%2 == 0 {
				cfg.Files, cfg.Snapshot = 8<<10, 20
			}
			if seed%5 == 0 {
				cfg.LoseLog = 0.2
			}
			if seed%7 == 0 {
				cfg.Stop, cfg.Lapse = 0.01, 0.02
			}
			d := runJobs(t, cfg, jobs(seed))
			if cfg.LoseLog == 0 { // else the count of found rewinds is lost
				rewinds += d.Rewinds()
				found += d.Log().Identity().Epoch - 1
			}
		})
	}
}
