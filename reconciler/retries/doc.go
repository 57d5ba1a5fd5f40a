// Package retries schedules the tries of refused commands. Each is in backoff; the package says when it is sent again:
//
//	r := retries.New(world, alive)
//	r.Follow(job, name, now) // after each record about the command
//	r.Ask(now)               // the commands that are due
//	send, back := r.Take()   // to the executor
//
// Nothing here is in the log: the schedule follows from the world, whose records show each refusal. Results that add
// nothing to the log (Repeated) are left out of it.
//
// # Concurrency
//
// Retries is not safe for concurrent use; the loop owns it.
//
// Read retries.go first, then hints.go.
package retries
