// Package commands keeps the commands in flight (decided, and not ended) of a subject, such as a Job, and the backoffs
// of refused ones. The effect of a command on its subject is defined by the subject's [Rows]; the package knows neither
// pods nor Jobs.
//
// A [Book] is computed from records, like its subject. It reads no clock, and the same records give the same book.
//
// # Concurrency
//
// A Book is not safe for concurrent use; the owner of its subject owns it.
//
// Read book.go first, then retry.go, then projector/commands.go for the rows of a Job.
package commands
