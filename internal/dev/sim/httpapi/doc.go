// Package httpapi serves a simulated world over HTTP on the loopback interface, in real time, to a controller in a
// process of its own.
//
// It serves what the command jobledger requests: lists (also in pages) and watches of CronJobs, Jobs, Pods and Leases,
// writes to them, and the version. It accepts Kubernetes Events and discards them. Requests may be protobuf or JSON;
// answers are JSON.
//
// A test loads objects as YAML ([Server.Load]). Calls about an object get the faults that its annotations list
// ([apiserver.AnnotationFaults]). [Config.Writes] receives the write requests.
//
// # Concurrency
//
// Several goroutines may use a Server. [Server.Do] gives exclusive access to the world.
//
// Read next: server.go, then handler.go.
package httpapi
