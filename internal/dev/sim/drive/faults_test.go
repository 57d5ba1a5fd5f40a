package drive_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
)

// TestEveryRequestFails: for a quarter of an hour every request that can fail in one given way does so, through crashes
// and restarts. Meanwhile the controller neither overloads the server nor fills its log; afterwards every Job goes on
// and ends, with no pod too many (J-017, J-018, J-060, J-094, J-101, J-237).
func TestEveryRequestFails(t *testing.T) {
	t.Parallel()
	for kind := apiserver.TimeoutBefore; kind < apiserver.TouchedByAnother; kind++ {
		for seed := range uint64(max(1, seeds(t, 6)/10)) { // each is ten times as long as others
			t.Run(fmt.Sprintf("%s/seed=%d", kind, seed), func(t *testing.T) {
				cfg := config(seed)
				cfg.World.UserChance, cfg.World.NodeLossChance = 0, 0
				cfg.Faults, cfg.Crash, cfg.Cut = apiserver.Rates{kind: 1}, 0.0005, 0
				suffer(t, cfg)
			})
		}
	}
}

const suffering = 15 * time.Minute

func suffer(t *testing.T, cfg drive.Config) {
	created := jobs(cfg.World.Seed)
	d, err := drive.New(cfg, created...)
	if err != nil {
		t.Fatal(err)
	}
	fail := func(err error) {
		t.Helper()
		t.Fatalf("%v\nlast steps:\n%s\nlast records:\n%s", err, d.History(60), d.Records(100))
	}
	begin := d.World.Clock.Now()
	half := 0
	for steps := 0; d.World.Clock.Now().Sub(begin) < suffering && steps < 50_000; steps++ {
		if err := d.Step(); err != nil {
			fail(err)
		}
		if half == 0 && d.World.Clock.Now().Sub(begin) > suffering/2 {
			half = calls(d)
		}
	}
	// In the second half each failing command is tried once a minute: for each Job a create, a status write with its
	// read, and a few pods; crashes repeat some. In addition, one create in the cluster probes every four seconds.
	most := len(created)*5*int(suffering/2/time.Minute) + int(suffering/2/(4*time.Second))
	if half == 0 {
		t.Logf("it was over after %s: nothing was left to ask for", d.World.Clock.Now().Sub(begin))
	} else {
		t.Logf("%d Jobs, %d requests in %s", len(created), calls(d)-half, suffering/2)
	}
	if n := calls(d) - half; half > 0 && n > most {
		t.Errorf("%d requests in the second half of %s, the limit is %d", n, suffering, most)
	}
	if err := d.Settle(); err != nil {
		fail(err)
	}
	if err := d.CheckLog(); err != nil {
		fail(err)
	}
}

// calls counts the requests of the controller so far.
func calls(d *drive.Driver) int {
	n := 0
	for _, c := range d.World.Server.Calls(0) {
		if c.Actor == "jobledger" {
			n++
		}
	}
	return n
}

// TestAServersWishIsKept: after a 429 with Retry-After nothing is sent for that long, even after a restart (J-017).
func TestAServersWishIsKept(t *testing.T) {
	t.Parallel()
	kept := 0
	for seed := range uint64(seeds(t, 6)) {
		cfg := config(seed)
		cfg.World.UserChance, cfg.World.NodeLossChance = 0, 0
		cfg.Faults, cfg.Crash, cfg.Cut = apiserver.Rates{apiserver.TooManyRequests: 1}, 0.002, 0
		d, err := drive.New(cfg, jobs(seed)...)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Steps(3000); err != nil {
			t.Fatal(err)
		}
		for rec, err := range d.Log().Read(context.Background(), 1) {
			if err != nil {
				t.Fatal(err)
			}
			f, ok := rec.Facts.(*events.CommandEnded)
			if !ok || f.Class != events.RefusedTooManyRequests {
				continue
			}
			refused, again := tries(d, &rec)
			if wait := f.RetryAfter; again != 0 && again.Sub(refused) < wait {
				t.Fatalf("seed %d: record %d asks to wait for %s, and the command is asked again after %s", seed, rec.Sequence, wait, again.Sub(refused))
			}
			if again != 0 {
				kept++
			}
		}
	}
	if kept < 20 {
		t.Errorf("only %d wishes had a chance to be broken", kept)
	}
}

// tries returns when the API server refused the request of the record, and the time of the next try; 0 for never.
func tries(d *drive.Driver, rec *events.Record) (refused, again events.Time) {
	for _, c := range d.World.Server.Calls(0) {
		if c.Actor != "jobledger" || c.Name != rec.Evidence.Name || c.Verb == "get" {
			continue
		}
		t := events.At(c.Time)
		if t > rec.Time {
			return refused, t
		}
		refused = t
	}
	return refused, 0
}
