// Package fuzz lets random Jobs live on a real API server, among users who edit, suspend, delete and meddle, kubelets
// that do what they like, and calls that go wrong, and counts what the API server makes of the statuses that the
// controller writes.
//
// Not one may be refused as invalid: a write that is refused once is refused for ever. Every Job ends, in a way that
// what happened to its pods bears out; at no version is a rule of package ledger broken; no pod keeps a finalizer; and
// the log replays. Each write in the API server's audit log has its command in the log, and the other way round:
// package audit compares them.
//
// A seed decides what is tried, not when it meets what the controller does, so it does not repeat a run. A failure
// prints what happened to its Job, and leaves the log.
//
// # Concurrency
//
// Each lane is a goroutine that has one Job after the other; it is its users and its kubelet.
//
// Read next: fuzz_test.go, then lane_test.go; audit_test.go for the comparison.
package fuzz
