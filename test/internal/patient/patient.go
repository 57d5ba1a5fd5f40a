package patient

import (
	"context"
	"testing"
	"time"
)

// again is how long Eventually waits before it checks again.
const again = 100 * time.Millisecond

// Eventually calls is every 100 ms, and returns when is returns true. what describes the condition, for the error.
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

// Pass waits for the time d, as people do before they act.
func Pass(ctx context.Context, t testing.TB, d time.Duration) {
	t.Helper()
	select {
	case <-ctx.Done():
		t.Fatal(context.Cause(ctx))
	case <-time.After(d):
	}
}
