// Package commands keeps the commands of a subject, such as a Job, that have not ended, and what was learnt from those
// that were refused. It knows neither pods nor Jobs: what a command means to its subject is what the subject's [Rows]
// say.
//
// A [Book] is folded from records like its subject, so it reads no clock, and the same records give the same book.
//
// # Concurrency
//
// A Book is not safe for concurrent use; the owner of its subject owns it.
//
// Read book.go first, then retry.go, then projector/commands.go for the rows of a Job.
package commands
