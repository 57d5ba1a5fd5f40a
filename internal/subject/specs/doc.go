// Package specs keeps the contents of Job specs by hash:
//
//	s := specs.New()
//	s.Store(spec, record.Sequence)  // a record stores it
//	spec := s.Use(hash, before)     // a Job has it, in place of another one
//	s.Release(hash)                 // the Job is over
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package specs
