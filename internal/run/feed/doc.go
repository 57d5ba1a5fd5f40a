// Package feed serves the records of a controller's log over HTTP to processes that keep a copy of it, and is their
// client.
//
//	giver := feed.NewGiver(feed.Config{Now: now, Leads: leads})
//	giver.Open(log, files, dir)                  // once the log is open; until then it answers 503
//	mux.Handle("/v1/", giver)
//
//	head, err := client.Head(ctx, address)       // the log's ID and its head
//	part, err := client.Records(ctx, address, n) // whole batches from record n on, as they are stored
//	part, err := client.Follow(ctx, address, name, n, hash) // the same; waits for a record, and is counted as a follower
//
// It answers no questions: a client gets records in order, and computes answers on its own. Invariants:
//
//   - A Giver serves only the durable prefix of the log, in whole batches, and never changes it: only GET is allowed.
//   - A part ends with the chain value behind its last record. The Giver compares it with its log before it sends the
//     part, and the client with the received records: a part that was cut or changed is an error, and yields no
//     records.
//   - At most four requests are answered at a time. A part has 4 MiB, or one batch if that is longer.
//
// The server around the Giver decides who may send requests.
//
// # Concurrency
//
// A Giver and a Client are safe for concurrent use.
//
// Read wire.go first, then give.go and take.go.
package feed
