// Package httpapi serves a simulated world over HTTP on the loopback interface, in real time, to a controller in a
// process of its own.
//
// It serves the requests of the command: lists, also in pages, and watches of CronJobs, Jobs, Pods and Leases; writes
// to them; Kubernetes Events, which it discards; and the version. Requests may be protobuf or JSON; answers are JSON.
//
// A test loads objects as YAML ([Server.Load]). Calls about them meet the faults that their annotations ask for
// ([apiserver.AnnotationFaults]). [Config.Writes] shows which writes were requested.
//
// # Concurrency
//
// Several goroutines may use a Server. Do gives exclusive access to the world.
//
// Read next: server.go, then handler.go.
package httpapi
