// Package integration proves the real jobledger binary on a real API server: each kind of Job to its end, deletion,
// ownership, outages, stops, and what all this costs in requests, commits, bytes and silence.
//
// All tests share one control plane, without the built-in Job controller, except those that need another or break it.
// Each has a namespace of its own, and in it a user with exactly the rights of a Job controller, as which its
// controllers run. At the end of every test, whatever it was about, each of its controllers must stop in good order,
// must never have been forbidden anything, and its log must verify and replay without a divergence: see world.end.
//
// Read next: world_test.go.
package integration
