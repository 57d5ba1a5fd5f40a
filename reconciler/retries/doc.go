// Package retries decides when commands in backoff, which the API server has refused, are sent again:
//
//	r := retries.New(world, alive)
//	r.Follow(job, name, now) // after each record about the command
//	r.Ask(now)               // the commands that are due
//	send, back := r.Take()   // to the executor
//
// Nothing of this is in the log: the schedule follows from the world, because each refusal has a record. A result that
// adds nothing new (see Repeated) gets no record.
//
// # Concurrency
//
// Retries is not safe for concurrent use; the loop owns it.
//
// Read retries.go first, then hints.go.
package retries
