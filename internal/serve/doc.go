// Package serve is how a log is read by people and tools, be it on disk or beside the controller that writes it.
//
// A [Source] gives records. [Local] is one on a log that this process has open; [Client] is one that asks a running
// controller, whose [Handler] answers from its own Local: so a command that reads does the same work on the same records
// either way. [JobAt] folds the records of one Job up to a point; [Source.Jobs] sums up all of them. Invariants:
//
//   - Only the durable prefix of the log is shown (design §2, invariant 2), and it is never changed: GET and nothing else.
//   - What a Client gives is what the log holds, record for record; an answer that was cut is an error, never an end.
//   - The endpoint is for the machine it runs on: it listens on a loopback address only, and answers only requests that
//     were addressed to one, so a web page cannot reach it through a name of its own.
//
// # Concurrency
//
// Handler, Local and Client are safe for concurrent use. Reading holds nothing in the log while a reader is slow.
//
// Read source.go first, then handler.go.
package serve
