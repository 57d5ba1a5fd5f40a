// Package httpapi serves a simulated world over HTTP on loopback, in real time, to a controller in a process of its
// own.
//
// It serves what the command asks of an API server: lists, in pages too, and watches of CronJobs, Jobs, Pods and
// Leases, what it writes to them, Kubernetes Events, which nobody keeps, and a version. Requests may be protobuf or
// JSON; answers are JSON.
//
// A test gives it objects as YAML ([Server.Load]). Calls about them meet the faults that their annotations ask for
// ([apiserver.AnnotationFaults]). [Config.Writes] shows which writes were asked for.
//
// # Concurrency
//
// A Server may be used by any goroutine. Who is in Do has the world alone.
//
// Read next: server.go, then handler.go.
package httpapi
