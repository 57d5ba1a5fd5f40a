package drive_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/users"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// TestSeedsOfTTL gives Jobs a TTL. Users set, change and remove it while the Jobs run and after they finished. The
// process crashes, is stopped and loses its log, and its clock is set an hour forward and back. No Job is deleted
// before the TTL of its stored version has passed by the controller's clock, and none is forgotten (T-013, T-051, T-070
// to T-073).
func TestSeedsOfTTL(t *testing.T) {
	t.Parallel()
	deleted, conflicts := 0, 0
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.Settings.DeleteExpired = true
			if seed%2 == 0 {
				cfg.Settings.Mode = events.ModeAll
			}
			cfg.Stop, cfg.Files, cfg.Snapshot = 0.002, int(seed%4)*(4<<10), 20
			if seed%3 > 0 {
				cfg.SetClock = 0.005
			}
			if seed%5 == 0 {
				cfg.LoseLog = 0.5
			}
			d := runTTL(t, cfg)
			for _, call := range d.World.Server.Calls(0) {
				if call.Actor == "jobledger" && call.Verb == "delete" && call.Kind == apiserver.Jobs {
					deleted++
					if apierrors.IsConflict(call.Err) {
						conflicts++
					}
				}
			}
		})
	}
	t.Logf("%d deletions of Jobs, %d of them met a conflict", deleted, conflicts)
	if deleted == 0 || conflicts == 0 {
		t.Errorf("%d deletions of Jobs, %d of them met a conflict: there should be some of both", deleted, conflicts)
	}
}

// runTTL is runJobs with users who change TTLs.
func runTTL(t *testing.T, cfg drive.Config) *drive.Driver {
	t.Helper()
	rng, jobs := world.Rand(cfg.World.Seed, 20), jobs(cfg.World.Seed)
	for _, j := range jobs {
		j.Spec.TTLSecondsAfterFinished = someTTL(rng)
	}
	d, err := drive.New(cfg, jobs...)
	if err != nil {
		t.Fatal(err)
	}
	fail := func(err error) {
		t.Helper()
		t.Fatalf("%v\nlast steps:\n%s\nlast records:\n%s\n%s", err, d.History(60), d.Records(300), toRepeat(t))
	}
	for range 100 {
		if err := d.Steps(15); err != nil {
			fail(err)
		}
		if rng.IntN(5) == 0 {
			changeTTL(t, d, rng)
		}
	}
	if err := d.Settle(); err != nil {
		fail(err)
	}
	if err := d.CheckLog(); err != nil {
		fail(err)
	}
	return d
}

// someTTL returns no TTL in one of four cases, and 0 in some.
func someTTL(rng *rand.Rand) *int32 {
	if rng.IntN(4) == 0 {
		return nil
	}
	return new(max(0, rng.Int32N(90)-10))
}

// changeTTL gives a random Job another TTL, as a user.
func changeTTL(t *testing.T, d *drive.Driver, rng *rand.Rand) {
	t.Helper()
	var there []*batchv1.Job
	for _, j := range d.World.Server.StoredJobs() {
		if j.DeletionTimestamp == nil {
			there = append(there, j)
		}
	}
	if len(there) == 0 {
		return
	}
	job := there[rng.IntN(len(there))].DeepCopy()
	job.Spec.TTLSecondsAfterFinished = someTTL(rng)
	if _, err := d.World.Server.Client(users.Actor).UpdateJob(context.Background(), job); err != nil && !apierrors.IsConflict(err) {
		t.Fatal(err)
	}
}
