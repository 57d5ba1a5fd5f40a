// Package stream is the client of the stream on NATS that stores a replicated log. It creates and opens the stream,
// sends one message to a place (sequence in the stream), and reads from the stream's leader:
//
//	s, err := stream.Open(ctx, js, "prod")
//	place, err := s.Send(ctx, last, message)   // stored in place last+1; after an error it is unknown whether
//	data, found, err := s.At(ctx, last+1)      // a found message is final; found=false may be stale
//
// It does not interpret messages or errors; packages natslog and fence do. Every call is one request. It ends with its
// context; a request that reads also ends after 5 s. Nothing is retried.
//
// # Concurrency
//
// All methods are safe for concurrent use. The connection must have no reconnect buffer (Options). Otherwise a message
// could be sent long after the call for it has ended.
package stream
