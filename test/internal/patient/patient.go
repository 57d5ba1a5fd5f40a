package patient

import (
	"context"
	"testing"
	"time"
)

// again is the time between two checks of Eventually.
const again = 100 * time.Millisecond

// Eventually returns when is returns true. It calls is every 100 ms.
func Eventually(ctx context.Context, t testing.TB, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(again)
	defer tick.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// Pass waits for d, as people do before they act.
func Pass(ctx context.Context, t testing.TB, d time.Duration) {
	t.Helper()
	select {
	case <-ctx.Done():
		t.Fatal(context.Cause(ctx))
	case <-time.After(d):
	}
}
