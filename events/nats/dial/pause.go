package dial

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pause is how long to wait before the next try after that many failures: first, and twice as long each time, up to
// most; of that between half and all, so that many clients do not come back in step.
func Pause(failures int, first, most time.Duration) time.Duration {
	d := most
	if failures < 20 {
		d = min(d, first<<failures)
	}
	return d/2 + rand.N(d/2+1)
}

// Wait waits that long, or until ctx ends.
func Wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
