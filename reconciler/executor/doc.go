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
// Finalizers that a deletion waits for go first, then writes that finish a Job, then the finalizers of Jobs that end, then what others
// wait for and creates, then progress; see [events.Priority]. Every eighth call is of the least urgent kind that waits, and each kind
// has calls that are its own, so none starves. A task becomes more urgent while it waits when the Job ends, or something is deleted
// ([Executor.Hasten]). How many calls are in flight adapts to what the API server bears: see concurrency.go.
//
// # Concurrency
//
// All methods of Executor and Objects are safe for concurrent use. Calls may be carried out at the same time.
//
// Read executor.go first, then call.go, which has a function for each command.
package executor
