package effort

import (
	"os"
	"testing"
)

// IsLong reports whether tests run at their greatest length: JOBLEDGER_LONG is set.
func IsLong() bool { return os.Getenv("JOBLEDGER_LONG") != "" }

// IsWhole reports whether tests run all their rows: JOBLEDGER_WHOLE or JOBLEDGER_LONG is set.
func IsWhole() bool { return os.Getenv("JOBLEDGER_WHOLE") != "" || IsLong() }

// Whole skips the test unless all rows run. The message names the environment variable to set.
func Whole(t testing.TB) {
	t.Helper()
	if !IsWhole() {
		t.Skip("played by CI: JOBLEDGER_WHOLE=1")
	}
}

// Step returns the step of a loop over table rows: 1 if all rows are to run, else n, so that a short run takes every
// nth row.
func Step(n int) int {
	if IsWhole() {
		return 1
	}
	return n
}

// Each returns all rows of a table if all are to run, else every nth of them, beginning with the first.
func Each[R any](nth int, rows []R) (some []R) {
	for i := 0; i < len(rows); i += Step(nth) {
		some = append(some, rows[i])
	}
	return some
}
