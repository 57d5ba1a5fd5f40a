// Package ledger goes through a recorded history of Jobs and their pods and says what in it must never be: a pod
// counted twice or forgotten, two live pods of an index, a finalizer that goes before its pod is accounted for, a
// counter that goes back, a finished Job that is written again.
//
// The rules are those of the Job contract that hold at every instant, whoever runs the Job, whatever users do to it and
// wherever its controller is killed. Each violation names its rule. What only holds when no other client meddles is
// made weaker by what the history itself shows (a spec that changed, a pod beside another of its index), never by a
// setting of the test, except for what a history cannot show: who removed a finalizer.
//
// # Concurrency
//
// A Ledger belongs to one goroutine.
//
// Read next: ledger.go, then jobs.go and pods.go.
package ledger
