// Package executor carries out durable commands and reports their outcomes.
//
// An [Executor] is a state machine without goroutines. [Executor.Run] drives it with a goroutine per call; the
// simulation drives it from one goroutine:
//
//	e.Submit(tasks...)
//	call, ok := e.Next(now)      // the call to make now, if any
//	result := call.Do(ctx)       // make its requests
//	e.Done(call, result, now)    // free its slot and its object
//
// Invariants:
//
//   - Each submitted command has a durable record (design §2, invariant 1). The executor cannot check this; the caller
//     guarantees it. The executor makes no other writes.
//   - Each task ends exactly once: done, refused, unknown or withdrawn. Refused means that certainly nothing happened.
//     The executor never retries, because a retry is a decision.
//   - At most one command per object is in flight. The commands of one object are sent in the order of submission.
//   - A status is written only over the version from which it was computed. A pod is created only from the template on
//     which the decision was made.
//   - No Job waits for another Job's backlog: Jobs take turns, and no Job may use all slots.
//
// The log does not hold a Job's metadata and pod template. They are in [Objects], which the informer fills.
//
// # Order
//
// Commands that delay a client's request or the end of a Job go first:
//
//  1. finalizers that delay a deletion
//  2. writes that finish a Job
//  3. commands that delay such a write
//  4. the first pods of a Job, and pods whose backoff is over
//  5. finalizers left after a Job has finished
//  6. commands that a Job's next steps need (including its finalizers while many pods carry one), then its other pods
//     and finalizers in turn
//  7. status writes that only show progress
//
// The classes are those of [events.Priority]. Each class has reserved calls that no more urgent class can take. Every
// eighth call goes to the task that has waited longest, once it has waited for a second (ages in queue.go). So as long
// as these calls suffice to send, each second, as many tasks as reach that age, no task waits longer than two seconds.
// A waiting task becomes more urgent when its Job ends, or when its Job or pod is deleted ([Executor.Hasten]). The
// number of calls in flight adapts to the API server (concurrency.go).
//
// # Concurrency
//
// All methods of Executor and Objects are safe for concurrent use. Calls may be carried out concurrently.
//
// Read executor.go first, then call.go, which has a function for each command.
package executor
