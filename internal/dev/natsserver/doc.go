// Package natsserver is the NATS server of tests in a process of its own: the program of a test, started again (package
// natstest does that), or the command natsd.
//
// # Concurrency
//
// A process has one server.
package natsserver
