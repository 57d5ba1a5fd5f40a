// Package natsserver runs the NATS server of tests in a process of its own. The process is either the test binary,
// started again by package natstest, or the command natsd.
//
// # Concurrency
//
// A process runs one server.
package natsserver
