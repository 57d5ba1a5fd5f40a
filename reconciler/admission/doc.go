// Package admission decides which observations are recorded now, and which wait. The first ones of a namespace over its
// log budget queue, versions that come too early are held back, and short-lived objects are only counted:
//
//	step, ok := gate.Observe(now, o, past) // what to record and to admit for o
//	step, ok := gate.NextHeld(now)         // a version whose wait is over
//	step, ok := gate.NextQueued(now)       // an object whose turn it is
//	draft, ok := gate.NextCount(now)       // a count that is due
//
// The caller carries out a [Step], and reports it by [Gate.Admitted] before it asks for the next one. An observation
// that waits is no input yet, as if the watch were slower. So nothing is folded that is not recorded, and a replay
// needs no budgets.
//
// [Words] holds back observations that say nothing but what a pod waits for.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use; the loop owns it.
//
// Read gate.go first, then queue.go and counts.go.
package admission
