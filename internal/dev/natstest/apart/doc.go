// Package apart is the NATS server of package natstest in a process of its own: in that of a test's program started again, or in package
// natsd's.
//
// # Concurrency
//
// A process has one server.
package apart
