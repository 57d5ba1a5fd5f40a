package drive_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
)

// TestFailedDeletionsOfASuspendedCronJob: a CronJob is suspended, and its limits for finished Jobs become 0, while the
// API server fails often. Nothing else happens to a suspended CronJob by itself, and yet none of its finished Jobs is
// left at rest (C-125, C-246).
func TestFailedDeletionsOfASuspendedCronJob(t *testing.T) {
	t.Parallel()
	failed := 0
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := cronConfig(seed)
			cfg.World.UserChance, cfg.World.NodeLossChance, cfg.Crash, cfg.Cut = 0, 0, 0, 0
			cfg.Faults = apiserver.Rates{apiserver.ServerError: 0.4}
			d, err := drive.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%v\nlast steps:\n%s\nlast records:\n%s", err, d.History(60), d.Records(100))
				}
			}
			u := newCronUsers(t, d, seed)
			u.create()
			c := u.server.CronJob("default", "cron-1").DeepCopy()
			c.Spec.Schedule, c.Spec.TimeZone, c.Spec.StartingDeadlineSeconds, c.Spec.ConcurrencyPolicy = "* * * * *", nil, nil, "Allow"
			c.Spec.JobTemplate.Spec.TTLSecondsAfterFinished = nil
			c.Spec.SuccessfulJobsHistoryLimit, c.Spec.FailedJobsHistoryLimit = new(int32(3)), new(int32(3))
			_, err = u.client.UpdateCronJob(t.Context(), c)
			u.must(err)
			must(d.Pass(5 * time.Minute))
			c = u.server.CronJob("default", "cron-1").DeepCopy()
			c.Spec.Suspend, c.Spec.SuccessfulJobsHistoryLimit, c.Spec.FailedJobsHistoryLimit = new(true), new(int32(0)), new(int32(0))
			_, err = u.client.UpdateCronJob(t.Context(), c)
			must(err)
			must(d.Pass(5 * time.Minute))
			must(d.Settle())
			must(d.CheckLog())
			for _, call := range d.World.Server.Calls(0) {
				if call.Verb == "delete" && call.Kind == apiserver.Jobs && call.Err != nil {
					failed++
				}
			}
		})
	}
	if t.Logf("%d deletions failed", failed); failed < 5 {
		t.Errorf("%d deletions failed: this tests little", failed)
	}
}
