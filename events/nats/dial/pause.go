package dial

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pause returns how long to wait after a number of failures: first, doubled with each further failure up to most, times
// a random factor between one half and one. Example: with first 50 ms and most 5 s, it is 50 to 100 ms after one
// failure and 2.5 to 5 s after ten.
func Pause(failures int, first, most time.Duration) time.Duration {
	d := most
	if failures < 20 {
		d = min(d, first<<failures)
	}
	return d/2 + rand.N(d/2+1)
}

// Wait returns after d, or when ctx ends.
func Wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
