// Package feed serves the records of a controller's log over HTTP to processes that keep a copy of the log. It also has
// the client for this.
//
//	giver := feed.NewGiver(feed.Config{Now: now, Leads: leads})
//	giver.Open(log)                              // once the log is open; until then it answers 503
//	mux.Handle("/v1/", giver)
//
//	head, err := client.Head(ctx, address)       // the log's ID and its newest record
//	part, err := client.Records(ctx, address, n) // whole batches from record n on, as they are stored
//	part, err := client.Follow(ctx, address, name, n, hash) // the same, for a standby; waits for a new record
//
// It answers no questions about Jobs: a client gets records in order, and computes answers on its own. Invariants:
//
//   - A Giver serves only durable records, in whole batches, and never changes the log: only GET is allowed.
//   - An answer with records (a part) ends with the hash chain value after its last record. The Giver compares this
//     value with its log before it sends the part. The client compares it with the received records: a part that was
//     cut or changed is an error, and yields no records.
//   - At most four requests are answered at a time. A part has about 4 MiB, or one batch if that is longer.
//
// The server around the Giver decides who may send requests.
//
// # Concurrency
//
// A Giver and a Client are safe for concurrent use.
//
// Read wire.go first, then give.go and take.go.
package feed
