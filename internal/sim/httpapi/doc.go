// Package httpapi serves a simulated world over HTTP on loopback, in real time, to a controller in a process of its own.
//
// It serves what the command asks of an API server: lists and watches of Jobs and Pods, what it writes to them, Kubernetes Events,
// which nobody keeps, and a version. Requests may be protobuf or JSON; answers are JSON. There are no Leases: the command runs with
// --leader-elect=false.
//
// # Concurrency
//
// A Server may be used by any goroutine. Who is in Do has the world alone.
//
// Read next: server.go, then handler.go.
package httpapi
