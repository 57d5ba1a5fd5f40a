// Package trigger encodes a user's request for a run of a CronJob, as the value of an annotation on the CronJob. Users
// write it with their own rights, because none of Jobledger's ports accepts writes. The controller carries out each
// value once.
//
//	jobledger.dev/trigger: 2026-01-01T12:00:00.000Z 7f3a-51c2 jane@example.org
//
// A value has the time, an ID and the writer's name. None of the three is proven: any user who may change the CronJob
// may write anything.
//
// # Concurrency
//
// All functions are safe for concurrent use. [github.com/jobledger/jobledger/internal/run/triggering] writes the
// annotation.
package trigger
