// Package forwarding answers port-forwards as a kubelet does, for tests. The client speaks SPDY, also through a real API
// server.
//
//	forwarding.Serve(w, r, func(port string) (net.Conn, error) { return net.Dial("tcp", "127.0.0.1:"+port) })
//
// # Concurrency
//
// Serve returns when the client has left. Its connections are copied at the same time.
package forwarding
