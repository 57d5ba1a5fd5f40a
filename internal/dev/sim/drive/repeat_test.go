package drive_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestASeedRepeats: the same seed gives the same log, byte for byte. In this seed the clock is set while the state of a
// Job is stored in parts.
func TestASeedRepeats(t *testing.T) {
	t.Parallel()
	var first events.Hash
	for try := range 3 {
		cfg := config(14)
		cfg.Settings.DeleteExpired, cfg.Settings.Mode = true, events.ModeAll
		cfg.Stop, cfg.Files, cfg.Snapshot, cfg.SetClock = 0.002, 8<<10, 20, 0.005
		head := runTTL(t, cfg).Log().Head()
		if try == 0 {
			first = head.Hash
		} else if head.Hash != first {
			t.Fatalf("the seed gave one log of %d records, and another one", head.Sequence)
		}
	}
}
