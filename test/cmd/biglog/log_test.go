package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// bigLog is a log to measure, and how many records it has: with JOBLEDGER_LONG 10,000,000, and then times are judged;
// or that of JOBLEDGER_BIGLOG, which has as many. args are more flags for the small one.
func bigLog(t *testing.T, args ...string) (dir string, records int, judged bool) {
	t.Helper()
	records = 30_000
	if os.Getenv("JOBLEDGER_LONG") != "" {
		records, judged, args = 10_000_000, true, nil
	}
	if dir = os.Getenv("JOBLEDGER_BIGLOG"); dir != "" {
		return dir, records, judged
	}
	dir = filepath.Join(t.TempDir(), "log")
	if code := run(append([]string{"--log", dir, "--records", strconv.Itoa(records)}, args...)); code != 0 {
		t.Fatalf("biglog ended with %d", code)
	}
	return dir, records, judged
}
