package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
)

// bigLog returns a log to measure and its number of records. With JOBLEDGER_LONG it has 10,000,000 records, and times
// are judged. JOBLEDGER_BIGLOG names an existing log of as many records. args are further flags for the small log.
func bigLog(t *testing.T, args ...string) (dir string, records int, judged bool) {
	t.Helper()
	records = 30_000
	if effort.IsLong() {
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
