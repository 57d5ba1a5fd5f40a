// Package line implements a linked list whose links are fields of its members, so that it needs no memory of its own:
//
//	l := line.New(func(j *Job) *line.Links[Job] { return &j.stating })
//	l.ToEnd(j)
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package line
