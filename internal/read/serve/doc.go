// Package serve answers questions about a log over HTTP, and has the client that asks them.
//
//	client, err := serve.NewClient("127.0.0.1:10271") // the controller that writes the log
//	for record, err := range client.Read(ctx, 0) { … }
//
// [Handler] runs in the controller, and answers from its log. [Client] is a history.Source that asks the handler. A
// command that reads therefore does the same work on the same records, whether it opens the log on disk or asks a
// running controller.
//
// [Asking] answers many users, each from the part of the log that this user may read: questions, and with HandleRecords
// the records themselves, in answers of limited size. [NewReaderClient] is its client; it joins these answers.
//
// Invariants:
//
//   - Only the durable prefix of the log is shown (design §2, invariant 2), and nothing changes it: GET is the only
//     method.
//   - A Client returns the records of the log exactly. A cut answer is an error, and never looks like an end.
//   - Handler is for its own machine: it listens only on a loopback address. It answers only requests whose Host header
//     is a loopback address, so that a web page cannot reach it through a name that it points there.
//
// # Concurrency
//
// Handler and Client are safe for concurrent use. A client that reads slowly holds no lock of the log.
//
// Read handler.go first, then client.go.
package serve
