package controller

import (
	"context"
	"time"
)

// every calls do after each pause, until ctx ends. A call that takes longer than pause delays the next one.
func every(ctx context.Context, pause time.Duration, do func(context.Context)) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do(ctx)
		}
	}
}
