// Package surroundings keeps what is recorded about nodes and namespaces, and tells which observations are new:
//
//	s := surroundings.New()
//	s.Apply(record)
//	kind, news := s.News(observation.Facts)
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package surroundings
