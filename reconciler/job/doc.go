// Package job has the rules of a Job. [Decide] runs them for a Job that this controller manages, for a deleted or
// retired Job, for pods that name an unknown Job, and for pods without an owner:
//
//	d := job.Decide(j, j.Time(), false)
//
// rules.go lists the stages and their rules, in order. Each stage has a file of that name: claim.go, gang.go,
// outcome.go, pods.go, status.go, release.go, ttl.go.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read rules.go first.
package job
