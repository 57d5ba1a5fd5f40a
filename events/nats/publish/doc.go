// Package publish publishes the durable records of a log on NATS, in order, at least once.
//
// [Publisher] is the consumer "nats" of a log. It reads durable records, encodes them (package events/nats), and sends
// many messages before the first one is acknowledged. In the log it stores its offset: the last record before which all
// are acknowledged.
//
// Invariants:
//
//   - The stream holds the messages in the order of the log, without a gap, whatever fails. Each message names the
//     stream position and the record that it must follow. So the server refuses all messages after a lost one, or after
//     another client's; the publisher then goes back to the first unacknowledged one. For example, if message 7 of 5 to
//     9 is lost, the server refuses 8 and 9, and the publisher sends 7 to 9 again. A stream with several replicas gets
//     one atomic batch at a time, which names only the position: see replicated.go.
//   - The stream itself tells where to go on: our newest message in it names a record. So messages that a server
//     acknowledged and then lost are published again, and messages that it stored without an acknowledgement are not,
//     however long ago, and even if another log has published since. The stream's window for duplicates is only a
//     second guard.
//   - A subscriber may get a message twice, with the same ID, because JetStream delivers at least once.
//   - A log that was restored under a new epoch, or a new log, goes on after the existing messages: its IDs are
//     different. If a log was restored without a new epoch, the publisher notices and publishes nothing, because its
//     sequences would be ambiguous.
//   - The controller never waits for NATS. Without NATS the offset stays; [Publisher.Status] returns the lag and the
//     reason.
//
// The stream must belong to the publisher alone: one writer, no other subjects. [Check] returns other defects that
// would lose messages. Over core NATS ([Config.Core]) there is no stream: a client that is not subscribed at that
// moment misses the message, and all clients miss messages while a server restarts.
//
// # Concurrency
//
// Run sends from one goroutine; goroutines of the NATS client handle acknowledgements. Any goroutine may call Status at
// any time.
//
// Read publisher.go first, then session.go, then place.go, then window.go or replicated.go.
package publish
