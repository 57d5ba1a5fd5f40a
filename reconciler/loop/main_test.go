package loop_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the heap grow to five times its live size before it is collected: worlds are small, and make much
// garbage.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
