//go:build linux

// Package soak runs the controller for half an hour at 20 Jobs a second, which go again by their TTL, while the API
// server restarts and stands still, NATS is away and the disk of the log is full. The process does not restart, its
// memory does not grow, no Job and no record is lost, and the alerts of deploy/ fire and clear: Prometheus's own rule
// engine evaluates them (internal/dev/tools/promtool/alertwatch).
//
// It needs root on Linux, for a disk of its own, and JOBLEDGER_LONG=1, or JOBLEDGER_SOAK=8m for another length. An
// alert that waits ten minutes cannot fire in less than 25.
//
// # Concurrency
//
// Users, the kubelet, the one who counts and the samples of memory have goroutines of their own, which end with the
// test.
//
// Read next: soak_test.go.
package soak
