// Package tasks turns the commands of decisions into tasks for the executor, and says how urgent they are:
//
//	t := tasks.Of(world.Identity, job, name, command)
//	soon := urgency.Needed(all, withdraws, newest) // whether the log is to be made durable at once
//
// The urgency is not in the log, so no decision or replay depends on it.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read task.go first.
package tasks
