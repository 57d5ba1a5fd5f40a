// Package fuzz runs random Jobs on a real API server, with users who edit, suspend, delete and interfere, with kubelets
// that act at random, and with calls that fail. It checks how the API server answers the controller's status writes.
//
// No status write may be refused as invalid, because it would be refused forever. Every Job ends in a way that its pods
// explain, no version breaks a rule of package ledger, no pod keeps a finalizer, and the log replays. Each write in the
// API server's audit log has its command in the log, and vice versa: package audit compares them.
//
// A seed determines the actions, but not their timing, so it does not repeat a run. A failure prints the history of its
// Job, and keeps the log.
//
// # Concurrency
//
// Each lane is a goroutine that runs one Job after the other. It acts as the Job's users and as its kubelet.
//
// Read next: fuzz_test.go, then lane_test.go; audit_test.go for the comparison.
package fuzz
