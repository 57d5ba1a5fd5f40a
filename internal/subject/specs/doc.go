// Package specs keeps the Job specs that records store, by hash, so that Jobs with equal specs share one:
//
//	s := specs.New()
//	s.Store(spec, record.Sequence)  // a record stores the spec
//	spec := s.Use(hash, before)     // a Job has the spec now, instead of before
//	s.Release(hash)                 // the Job is over
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package specs
