// Package faults is a proxy between a controller and an API server that makes calls fail, as networks and servers do:
// an answer is lost although the call took effect, a call is lost before it takes effect, the server is overloaded or
// fails, or another client changes the object first.
//
// The controller connects to the proxy over plain HTTP on loopback, without credentials. The proxy authenticates to the
// API server as the controller's user. So the audit log shows the calls that arrived as the controller's.
//
// # Concurrency
//
// A Proxy is safe for concurrent use. It draws its random numbers in the order in which calls arrive, so a seed does
// not repeat a run exactly.
//
// Read next: proxy.go.
package faults
