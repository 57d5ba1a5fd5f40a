// Package effort says how much of the tests a run plays. There are three lengths:
//
//   - make test, for whoever changes something: of each kind of test some rows, in minutes;
//   - whole, for CI: all rows and journeys, all goroutines under the race detector (make test WHOLE=1, JOBLEDGER_WHOLE=1);
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
