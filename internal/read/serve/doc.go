// Package serve answers questions about a log over HTTP, and asks them.
//
// [Handler] answers from a history.Local beside the controller that writes the log. [Client] is a history.Source that
// asks it: so a command that reads does the same work on the same records, be the log on disk or with a running
// controller. Invariants:
//
//   - Only the durable prefix of the log is shown (design §2, invariant 2), and it is never changed: GET and nothing else.
//   - What a Client gives is what the log holds, record for record; an answer that was cut is an error, never an end.
//   - The endpoint is for the machine it runs on: it listens on a loopback address only, and answers only requests that
//     were addressed to one, so a web page cannot reach it through a name of its own.
//
// # Concurrency
//
// Handler and Client are safe for concurrent use. Reading holds nothing in the log while a reader is slow.
//
// Read handler.go first, then client.go.
package serve
