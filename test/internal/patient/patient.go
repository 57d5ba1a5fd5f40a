package patient

import (
	"context"
	"testing"
	"time"
)

// again is how long Eventually waits before it looks again.
const again = 100 * time.Millisecond

// Eventually looks again and again until something is so.
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

// Pass lets time pass, as people do before they act.
func Pass(ctx context.Context, t testing.TB, d time.Duration) {
	t.Helper()
	select {
	case <-ctx.Done():
		t.Fatal(context.Cause(ctx))
	case <-time.After(d):
	}
}
