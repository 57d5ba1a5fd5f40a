package drive_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
)

// TestSeedsOfCronJobsInWorseWorlds is TestSeedsOfCronJobs with a controller that forgets: its log is lost, another
// controller with its own log takes over, or the cluster goes back to a backup and has its due times once more. The
// same holds after every step: no minute of a CronJob has two Jobs, the times of a status go forward, and at rest the
// list of active Jobs has the running ones (C-220, C-221, C-240 to C-248).
func TestSeedsOfCronJobsInWorseWorlds(t *testing.T) {
	t.Parallel()
	told, rewinds := 0, uint64(0)
	defer func() {
		if t.Logf("%d entries of ledgers, %d rewinds", told, rewinds); told < 500/effort.Step(2) || rewinds < uint64(20/effort.Step(2)) {
			t.Errorf("%d entries of ledgers, %d rewinds: this tests little", told, rewinds)
		}
	}()
	for _, row := range []struct {
		sentence string
		worsen   func(*drive.Config, uint64)
	}{
		{"the log is lost", func(cfg *drive.Config, _ uint64) { cfg.Crash, cfg.LoseLog = 0.004, 0.5 }},
		{"another controller takes over", func(cfg *drive.Config, seed uint64) { cfg.HandOver = []float64{0.002, 0.004, 0.01}[seed%3] }},
		{"the cluster is restored", func(cfg *drive.Config, seed uint64) { cfg.Rewind = []float64{0.002, 0.004, 0.01}[seed%3] }},
		{"all of it", func(cfg *drive.Config, _ uint64) { cfg.LoseLog, cfg.HandOver, cfg.Rewind = 0.2, 0.002, 0.003 }},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			for seed := range uint64(seeds(t, 6/effort.Step(2))) {
				t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
					cfg := cronConfig(seed)
					cfg.Stop, cfg.Snapshot = 0.002, 20
					cfg.Settings.DeleteExpired = seed%2 == 0
					cfg.Files = int(seed%4) * (4 << 10)
					row.worsen(&cfg, seed)
					d := runCrons(t, cfg)
					told += judgeTicks(t, d)
					rewinds += d.Rewinds()
				})
			}
		})
	}
}

// tick is the state of a CronJob's due times, as its decisions have told it.
type tick struct {
	through events.Time
	told    map[types.UID]bool // Jobs that were told
}

// judgeTicks reads the outcomes (fates) of due times in the log. Each due time has one fate, in their order, and each
// Job is told once. After the cluster went back, its CronJobs have their due times once more. This includes a CronJob
// that was seen to go and comes back, even if nothing else tells that the cluster went back.
func judgeTicks(t *testing.T, d *drive.Driver) (told int) {
	t.Helper()
	all, gone := map[events.Stream]*tick{}, map[events.Stream]bool{}
	for rec, err := range d.Log().Read(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		switch rec.Kind {
		case events.KindEpochChanged:
			clear(all)
		case events.KindCronJobDeleted:
			gone[rec.Stream] = true
		case events.KindCronJobAdded:
			if gone[rec.Stream] {
				delete(all, rec.Stream)
				delete(gone, rec.Stream)
			}
		}
		decided, ok := rec.Facts.(*events.Decision)
		if !ok || rec.Kind != events.KindDecided || rec.Stream.Kind != events.StreamCronJob {
			continue
		}
		at := all[rec.Stream]
		if at == nil {
			at = &tick{told: map[types.UID]bool{}}
			all[rec.Stream] = at
		}
		for i := range decided.Steps {
			if said := decided.Steps[i].Cron; said != nil {
				for _, entry := range said.Ticks {
					told++
					if entry.Job != "" && at.told[entry.Job] {
						t.Errorf("record %d tells of the Job %s %s once more", rec.Sequence, entry.Name, entry.Job)
					}
					at.told[entry.Job] = true
					// A refusal may be of an earlier time: a deadline moves the due times of @every (C-084), or the
					// name is that of another Job (C-152).
					if entry.Fate >= events.TickAgain || entry.By != "" || entry.Fate == events.TickRefused && entry.First <= at.through {
						continue
					}
					if entry.First <= at.through || entry.Last < entry.First {
						t.Errorf("record %d gives the fate %d to %s through %s, and all have theirs through %s", rec.Sequence, entry.Fate, entry.First.Go(), entry.Last.Go(), at.through.Go())
					}
					at.through = entry.Last
				}
			}
		}
	}
	return told
}
