// Package link makes the network between a controller and its API server: a TCP forwarder that delays what passes, and
// lets no more through in a second than a line of a certain rate.
//
//	l := link.Line{Delay: 10 * time.Millisecond, Rate: 100e6 / 8}   // 20 ms round trip, 100 Mbit/s
//	err := l.Serve(ctx, listener, "127.0.0.1:6443")
//
// All connections share the line; each direction has its rate for itself. A byte arrives Delay after the line was free
// for it. What is not there: lost packets, congestion control (a line of 20 ms is as fast in its first round trip as
// later), and the round trip of a TCP handshake.
//
// It runs in a process of its own (Main), so that its CPU time is nobody else's.
//
// # Concurrency
//
// Serve may be called once for each listener. It returns when ctx has ended and all connections are closed.
package link
