// Package patience limits how long tests wait. All waits have the same limit: ten minutes, or JOBLEDGER_PATIENCE.
//
//	ctx, cancel := patience.Context(t.Context())
//	defer cancel()
//	err := patience.Until(ctx, 20*time.Millisecond, controllerEnded, func() (bool, error) { return isComplete(job) })
//
// The limit says nothing about the program under test. It only ends a test that would wait forever. It is longer than
// any busy machine needs, and only a failing test takes that long. A wait for a process ends with the process, so a
// crash is reported at once.
//
// A test of speed must not compare a measured time with a limit. It judges order, counts or records, or compares with
// the same work done beside it. internal/dev/archtest rejects a test that breaks this rule.
//
// # Concurrency
//
// Several goroutines may call the functions.
package patience
