// Package copies loses what a copy of the log is for: the volume under load, the whole cluster, the process at any
// moment. A real controller copies its log to a directory, or at length to a bucket of a real S3 server; then the test
// restores the copy with the real commands, goes on as their output says, and judges all that was stored in the cluster
// and in the log.
//
// Invariants that each test checks: the copy always restores to a head that the log had; no object but MANIFEST is ever
// overwritten; no pod is made twice, and none is counted twice or forgotten.
//
// # Concurrency
//
// Tests run against one control plane, each in a namespace of its own. Two forks of a log have a namespace each, so that
// the copy alone keeps them apart.
//
// Read next: world_test.go, then cut_test.go.
package copies
