// Package faults is a proxy between a controller and an API server that makes calls fail, as networks and servers do:
// an answer is lost though the call took effect, a call is lost before it did, the server is overloaded or fails, or
// another client was faster.
//
// The controller reaches the proxy over plain HTTP on loopback, without credentials. The proxy authenticates to the API
// server as the controller's user. So the audit log names the controller, and has the calls that arrived.
//
// # Concurrency
//
// A Proxy is safe for concurrent use. It draws its random numbers in the order in which calls arrive, so a seed does
// not repeat a run exactly.
//
// Read next: proxy.go.
package faults
