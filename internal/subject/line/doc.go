// Package line has a linked list whose links are part of its members:
//
//	l := line.New(func(j *Job) *line.Links[Job] { return &j.stating })
//	l.ToEnd(j)
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package line
