//go:build linux

// Package soak runs the controller for half an hour with 20 new Jobs a second, which are deleted by their TTL.
// Meanwhile the API server restarts and freezes, NATS is away, and the log's disk is full. The process must not
// restart, its memory must not grow, and no Job and no record may be lost. The alerts of deploy/ must fire and clear;
// Prometheus's own rule engine evaluates them (internal/dev/tools/promtool/alertwatch).
//
// It needs root on Linux, for its own disk, and JOBLEDGER_LONG=1, or JOBLEDGER_SOAK=8m for another length. An alert
// that waits ten minutes can fire only in runs of at least 25 minutes.
//
// # Concurrency
//
// Users, the kubelet, the counter of ends and the memory samples have their own goroutines, which end with the test.
//
// Read next: soak_test.go.
package soak
