// Package feed gives the records of a controller's log to processes that keep a copy of it, over HTTP, and takes them.
//
//	giver := feed.NewGiver(feed.Config{Now: now, Leads: leads})
//	giver.Open(log, files, dir)                  // once the log is open; until then it answers 503
//	mux.Handle("/v1/", giver)
//
//	head, err := client.Head(ctx, address)       // whose log it is, and how far it is
//	part, err := client.Records(ctx, address, n) // whole batches from record n on, as they are stored
//
// It answers no question: who asks gets records in their order and computes answers on its own. Invariants:
//
//   - Only the durable prefix of the log is given, in whole batches, and it is never changed: GET and nothing else.
//   - A part ends with the chain value behind its last record. The giver compares it with that of its log before it
//     sends the part, the taker with that of the records that came: one that is cut or changed is an error, never records.
//   - Four requests are answered at a time. A part has 4 MiB, or one batch where that is longer.
//
// Who may ask is decided before, by whoever serves the Giver.
//
// # Concurrency
//
// A Giver and a Client are safe for concurrent use.
//
// Read wire.go first, then give.go and take.go.
package feed
