// Package link simulates the network between a controller and its API server: a TCP forwarder that delays bytes and
// limits their rate.
//
//	l := link.Line{Delay: 10 * time.Millisecond, Rate: 100e6 / 8}   // 20 ms round trip, 100 Mbit/s
//	err := l.Serve(ctx, listener, "127.0.0.1:6443")
//
// All connections share one line; each direction has the full rate. A byte arrives Delay after the line has sent it.
// Not simulated: lost packets, congestion control (the first round trip is as fast as later ones), and the round trip
// of a TCP handshake.
//
// It runs in its own process (Main), so that its CPU time can be measured separately.
//
// # Concurrency
//
// Serve may be called once for each listener. It returns when ctx has ended and all connections are closed.
package link
