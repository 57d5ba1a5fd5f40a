package drive_test

import (
	"fmt"
	"testing"
)

// TestSeedsOfClocks sets the controller's clock an hour forward and back. The part of a wait that has passed is not
// waited for again, and no deadline passes early (design §4, J-146). Every third seed loses its log, too.
func TestSeedsOfClocks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.SetClock = 0.005
			if seed%3 == 0 {
				cfg.LoseLog = 0.5
			}
			run(t, cfg)
		})
	}
}
