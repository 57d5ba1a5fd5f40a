// Package admission decides which observations of the watch are recorded now, and which wait. New Jobs of a namespace
// over its log budget queue, versions that come too early are held back, and short-lived objects are only counted:
//
//	step, ok := gate.Observe(now, o, past) // what to record and to admit for o
//	step, ok := gate.NextHeld(now)         // a version whose wait is over
//	step, ok := gate.NextQueued(now)       // an object whose turn it is
//	draft, ok := gate.NextCount(now)       // a count that is due
//
// The caller carries out each [Step], and reports it with [Gate.Admitted] before it asks for the next one. To the rest
// of the controller, an observation that waits has not arrived yet, as if the watch were slower. So the state depends
// on recorded observations only, and a replay needs no budgets.
//
// [Words] holds back observations whose only news is the reason why a pod waits.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use; the loop owns it.
//
// Read gate.go first, then queue.go and counts.go.
package admission
