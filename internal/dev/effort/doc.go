// Package effort tells a test how much of itself to run. There are three lengths:
//
//   - make test, while you work: some rows of each kind of test, in minutes;
//   - whole, for CI: all rows and all journeys (long stories such as an upgrade), with all goroutines under the race
//     detector (make test WHOLE=1, or JOBLEDGER_WHOLE=1);
//   - long: the same with more seeds and larger logs, in hours (make test-long, or JOBLEDGER_LONG=1).
//
// A test that only CI runs begins with
//
//	effort.Whole(t)
//
// The Makefile lists packages of which make test runs no test (journeys), so that it does not link them needlessly.
//
// # Concurrency
//
// Several goroutines may call the functions.
package effort
