// Package executor carries out durable commands and reports how they ended.
//
// An [Executor] is a step machine: [Executor.Submit] takes commands, [Executor.Next] says which may be sent now,
// [Call.Do] makes the request, [Executor.Done] takes notice of the end. [Executor.Run] is a thin shell around it with a
// goroutine for each call; the simulation drives the same steps from one goroutine. Invariants:
//
//   - It is only given commands whose record is durable (design §2, invariant 1), and makes no other write. It cannot
//     check that: whoever submits a task vouches for it.
//   - Every task that is submitted ends exactly once, as done, refused, unknown or withdrawn. Refused means that nothing
//     happened; where that is not certain the end is unknown. Nothing is tried again here: what to do after a refusal or
//     an unknown end is a decision.
//   - At most one command of an object is in flight, and the commands of one object are sent in the order in which they
//     were submitted.
//   - A status is written only over exactly the version of the Job that it was computed from, and a pod is made only
//     from the template that was decided on.
//   - No Job waits for another Job's backlog: Jobs take turns, and none holds all of the concurrency.
//
// What the log does not hold (a Job's metadata and pod template) is in [Objects], which the informer fills.
//
// # Order
//
// What goes first is what somebody waits for:
//
//  1. finalizers that a deletion waits for
//  2. writes that finish a Job
//  3. what stands between a Job that ends and that write
//  4. the first pods of a Job, and pods whose backoff is over
//  5. finalizers that are left after a Job has finished
//  6. what the next steps of a Job wait for (also its finalizers while many pods carry one), then its other pods and finalizers by turns
//  7. status writes that only show progress
//
// See [events.Priority]. Each kind has calls that no more urgent one can take, and an eighth of the calls is for what
// has waited for a second, the oldest first (ages in queue.go). So nothing waits longer than two seconds while the
// server takes what comes. A task becomes more urgent while it waits when the Job ends, or something is deleted
// ([Executor.Hasten]). How many calls are in flight adapts to what the API server bears: see concurrency.go.
//
// # Concurrency
//
// All methods of Executor and Objects are safe for concurrent use. Calls may be carried out at the same time.
//
// Read executor.go first, then call.go, which has a function for each command.
package executor
