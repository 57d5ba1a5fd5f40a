package effort

import (
	"os"
	"testing"
)

// IsLong reports whether tests run at length.
func IsLong() bool { return os.Getenv("JOBLEDGER_LONG") != "" }

// IsWhole reports whether all rows run, as in CI and at length.
func IsWhole() bool { return os.Getenv("JOBLEDGER_WHOLE") != "" || IsLong() }

// Whole skips the test unless all rows run. The skip names the variable that plays it.
func Whole(t testing.TB) {
	t.Helper()
	if !IsWhole() {
		t.Skip("played by CI: JOBLEDGER_WHOLE=1")
	}
}

// Step returns the step of a loop over rows: n, or 1 if all rows run.
func Step(n int) int {
	if IsWhole() {
		return 1
	}
	return n
}

// Each returns every nth of rows, beginning with the first, or all of them if all rows run.
func Each[R any](nth int, rows []R) (some []R) {
	for i := 0; i < len(rows); i += Step(nth) {
		some = append(some, rows[i])
	}
	return some
}
