// Package effort says how much of the tests a run plays. There are three lengths:
//
//   - make test, for whoever changes something: of each kind of test some rows, in minutes;
//   - whole, for CI: all rows and journeys (make test WHOLE=1, JOBLEDGER_WHOLE=1);
//   - long: more seeds, larger logs, hours (make test-long, JOBLEDGER_LONG=1). It contains the whole.
//
// A test that only CI plays begins with
//
//	effort.Whole(t)
//
// Packages of which make test plays nothing stand in the Makefile (journeys), so that they are not linked for nothing.
//
// # Concurrency
//
// Several goroutines may call the functions.
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
