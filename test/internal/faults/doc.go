// Package faults stands between a controller and an API server and lets calls go wrong, as networks and servers do: an
// answer is lost though the call took effect, a call is lost before it did, the server is overloaded, fails, or another
// client was faster.
//
// The controller reaches the proxy over plain HTTP on loopback, without credentials; the proxy authenticates to the API
// server as the controller's user. So the audit log names the controller, and what it counts is what took effect.
//
// # Concurrency
//
// A Proxy is safe for concurrent use. Its random draws are in the order in which calls arrive, so a seed does not
// repeat a run exactly.
//
// Read next: proxy.go.
package faults
