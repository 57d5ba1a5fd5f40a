// Package publish publishes the durable records of a log on NATS, in order, at least once.
//
// [Publisher] is the consumer "nats" of a log. It reads durable records, makes their messages (package events/nats),
// and sends many before the first is acknowledged; how far the acknowledged ones reach is its durable offset.
// Invariants:
//
//   - The messages of a stream stand in the order of the log, without a gap, whatever fails and whoever is killed. Each
//     message says which sequence of the stream it must follow, and which record, so the server refuses all that come after one
//     that was lost, or after another client's; the publisher then goes back to the first that is not acknowledged. A stream on
//     several servers gets one atomic batch at a time, which says the sequence only: see replicated.go for why.
//   - Where to go on is asked of the stream itself: our newest message in it names a record. So what a server that lost its
//     tail had acknowledged is published again, and what was stored but not acknowledged is not, however long ago that
//     was, and though another log has published since; the stream's window for duplicates is a second guard, not the first.
//   - A subscriber may see a message twice, as JetStream delivers at least once; it has the same ID then.
//   - A log that was restored under a new epoch, or begun anew, goes on after what is there: its IDs are others. One that was
//     restored without a new epoch is noticed and nothing of it is published, because its sequences mean two things.
//   - The controller never waits for NATS. Without it the offset stays; [Publisher.Status] says how far behind it is and why.
//
// The stream must be the publisher's own: one writer, no other subjects; [Check] says what else would lose messages.
// Over core NATS ([Config.Core]) there is no stream: whoever does not listen at that moment has missed it, and so has
// everybody while a server restarts.
//
// # Concurrency
//
// Run is one goroutine that sends, beside those of the NATS client, which take acknowledgements. Status may be called
// by any goroutine at any time.
//
// Read publisher.go first, then session.go, then place.go, then window.go or replicated.go.
package publish
