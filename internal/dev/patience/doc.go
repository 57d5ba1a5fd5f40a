// Package patience bounds the waits of tests: one length for all, ten minutes, or the value of JOBLEDGER_PATIENCE.
//
//	ctx, cancel := patience.Context(t.Context())
//	defer cancel()
//	err := patience.Until(ctx, 20*time.Millisecond, controllerEnded, func() (bool, error) { return isComplete(job) })
//
// The length says nothing about the program under test: it only ends a test that would wait for ever. It is longer than
// any busy machine needs, and a test pays it only when it fails. A wait for a process ends with that process, so a
// crash is reported at once.
//
// A test that wants to know whether something was fast does not measure. It judges order, counts or records, or does
// the same thing beside it; internal/dev/archtest finds one that compares a measured time with a limit.
//
// # Concurrency
//
// All functions may be called at any time by anybody.
package patience
