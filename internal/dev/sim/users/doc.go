// Package users is the people of the simulation: they create Jobs, delete and recreate them under the same name,
// suspend and scale them, and meddle with Pods: delete them, take finalizers away, change labels and owners.
//
// Each step is one API call without faults. Which one comes next, and whom it hits, the seed decides; each kind may be
// switched off.
//
// # Concurrency
//
// One goroutine owns Users and its server.
package users
