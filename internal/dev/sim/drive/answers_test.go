package drive_test

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/users"
	"github.com/jobledger/jobledger/internal/read/explain/explaintest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
)

// TestAnswersOfSeeds asks about the Jobs of a seed while they run, and after they ended. What is said contradicts neither
// the records nor another answer: `get job`, `get jobs`, `explain`, `attempts` and `failures` agree about states, counts
// and times.
func TestAnswersOfSeeds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg, all := asked(seed)
			d, err := drive.New(cfg, all...)
			if err != nil {
				t.Fatal(err)
			}
			for i, steps := range []int{200, 500, 800} {
				if err := d.Steps(steps); err != nil {
					t.Fatal(err)
				}
				askAll(t, d, fmt.Sprintf("part %d", i+1))
			}
			if err := d.Settle(); err != nil {
				t.Fatal(err)
			}
			askAll(t, d, "at rest")
		})
	}
}

// asked returns the world of a seed: with users who do whatever users may do, in small files, with a log that is lost at
// crashes, or beside Jobs of others.
func asked(seed uint64) (cfg drive.Config, all []*batchv1.Job) {
	cfg, all = config(seed), jobs(seed)
	if seed%2 == 0 {
		// Who writes another index on a pod makes one pod count for two.
		cfg.World.UserChance, cfg.World.UsersOff = 0.1, append(some(seed), users.ReindexPod)
	}
	switch seed % 4 {
	case 1:
		cfg.Files, cfg.Snapshot = 8<<10, 20
	case 2:
		cfg.LoseLog = 0.3
	case 3:
		cfg.Settings.ObserveOthers = true
		for i, j := range jobs(seed) {
			j.Name, j.Spec.ManagedBy = fmt.Sprintf("theirs-%d", i), nil
			all = append(all, j)
		}
	}
	return cfg, all
}

func askAll(t *testing.T, d *drive.Driver, when string) {
	t.Helper()
	r, err := explaintest.Check(t.Context(), history.Local{Log: d.Log(), Lists: joblist.New(joblist.Config{Log: d.Log()})})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Errorf("%s: %s", when, f)
	}
}
