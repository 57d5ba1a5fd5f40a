// Package copies tests the copies of a log. It causes the losses for which a copy is made: it loses the volume under
// load, the whole cluster, or the process at any moment. A real controller copies its log to a directory, or in long
// tests to a bucket of a real S3 server. Then the test restores the copy with the real commands, does what their output
// says, and checks everything that was stored in the cluster and in the log.
//
// Invariants that each test checks: the copy always restores to a head that the log had; no object but MANIFEST is ever
// overwritten; no pod is created twice, counted twice or forgotten.
//
// # Concurrency
//
// Tests run against one control plane, each in a namespace of its own. Two forks of a log have a namespace each, so
// that only the copy can keep them apart.
//
// Read next: world_test.go, then cut_test.go.
package copies
