// Package integration tests the real jobledger binary on a real API server: each kind of Job to its end, deletion,
// ownership, outages, stops, and the cost in requests, commits and bytes.
//
// All tests share one control plane, without the built-in Job controller, except tests that need another one or break
// it. Each has its own namespace, and in it a user with exactly the rights of a Job controller, for its controllers. At
// the end of every test each of its controllers must stop in good order, must never have been forbidden a request, and
// its log must verify and replay without a divergence: see world.end.
//
// Read next: world_test.go.
package integration
