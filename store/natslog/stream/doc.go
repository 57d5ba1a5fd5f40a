// Package stream is the client of the stream in which a replicated log is stored. It makes and opens the stream, sends
// one message to a place, and reads from the stream's leader:
//
//	s, err := stream.Open(ctx, js, "prod")
//	place, err := s.Send(ctx, last, message)   // acknowledged in place last+1, or nothing is known
//	data, found, err := s.At(ctx, last+1)      // what is found is final; that nothing is found may be from the past
//
// It interprets neither messages nor errors: that is for the packages natslog and fence. Every call is one request,
// and its context bounds it; one that reads waits for at most 5 s. Nothing is tried again.
//
// # Concurrency
//
// All methods may be called at any time by anybody. The package expects a connection without a reconnect buffer
// (Options): with one, a message could leave this process long after the call for it has ended.
package stream
