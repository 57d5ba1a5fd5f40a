// Package ledger checks a recorded history of Jobs and their pods against rules, and reports violations: a pod that is
// counted twice or never, two live pods of an index, a finalizer that is removed before its pod is counted, a counter
// that goes back, a finished Job that is written again.
//
// The rules are those of the Job contract that hold at any time, whichever controller runs the Job, whatever users do
// to it and wherever its controller is killed. Each violation names its rule. Some rules hold only if no other client
// interferes. They are relaxed by what the history itself shows (a changed spec, a second pod of an index), never by a
// setting of the test. There is one exception, because a history does not show it: Config says who removed a finalizer
// or deleted a pod.
//
// # Concurrency
//
// A Ledger belongs to one goroutine.
//
// Read next: ledger.go, then jobs.go and pods.go.
package ledger
