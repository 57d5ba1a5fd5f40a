// Package serve answers questions about a log over HTTP, and has the client that asks them.
//
// [Handler] answers from a history.Local beside the controller that writes the log. [Client] is a history.Source that
// asks the handler. A command that reads therefore does the same work on the same records, whether it opens the log on
// disk or asks a running controller:
//
//	client, err := serve.NewClient("127.0.0.1:10271")
//	for record, err := range client.Read(ctx, 0) { … }
//
// [Asking] answers many users, each from a source of the part that they may read: questions, and with HandleRecords the
// records themselves, in answers of bounded size. [NewReaderClient] is its client; it joins these answers.
//
// Invariants:
//
//   - Only the durable prefix of the log is shown (design §2, invariant 2), and nothing changes it: GET is the only
//     method.
//   - A Client returns the records of the log exactly. A cut answer is an error, and never looks like an end.
//   - The endpoint is for its own machine. It listens only on a loopback address, and answers only requests addressed
//     to one, so a web page cannot reach it through a name of its own.
//
// # Concurrency
//
// Handler and Client are safe for concurrent use. A slow reader holds no lock of the log.
//
// Read handler.go first, then client.go.
package serve
