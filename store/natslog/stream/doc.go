// Package stream is the client of the stream that stores a replicated log. It creates and opens the stream, sends one
// message to a place, and reads from the stream's leader:
//
//	s, err := stream.Open(ctx, js, "prod")
//	place, err := s.Send(ctx, last, message)   // acknowledged in place last+1; after an error, unknown
//	data, found, err := s.At(ctx, last+1)      // a found message is final; found=false may be stale
//
// It interprets neither messages nor errors: packages natslog and fence do. Every call is one request, bounded by its
// context; a reading request also ends after 5 s. Nothing is retried.
//
// # Concurrency
//
// All methods are safe for concurrent use. The package requires a connection without a reconnect buffer (Options): with
// one, a message could leave this process long after the call for it has ended.
package stream
