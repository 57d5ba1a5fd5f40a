// Package users simulates the users of a cluster. They create Jobs, delete and recreate them under the same name,
// suspend and scale them, and interfere with Pods: they delete Pods, remove finalizers, and change labels and owners.
//
// Each step is one API call without faults. The seed chooses the call and its object. Each kind of call can be switched
// off.
//
// # Concurrency
//
// One goroutine owns Users and its server.
package users
