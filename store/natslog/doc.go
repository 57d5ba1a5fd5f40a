// Package natslog defines the messages that a replicated log writes to its stream on NATS JetStream, and which of these
// messages count. The stream orders and stores them; each replica appends the records that count to its own log:
//
//	store.Options.Before ─▶ GroupOf ─▶ Encode ─▶ fence ─▶ the stream (one message in flight)
//	   (the leader's log)               parts      │                │
//	                                               ▼                ▼
//	store.Follower  ◀─ Segment.Batches ◀─ Verdict ◀─ Accept(State, message)
//	   (a replica's log)
//
// A message is a [Segment]: a claim, which begins a term (one process's time as the writer), a group of records or a
// part of one, a release, or the end of the stream. [Accept] is a pure function with the same result for every reader.
// A message that does not fit is void: it takes a place in the stream, but has no effect. Invariants:
//
//   - Only the writer of the newest claim adds records, and only after the head that its message names.
//   - The groups that count form one chain. A group counts once its last part is read; a claim drops incomplete groups.
//   - A State depends only on the messages that count, in order, and not on void messages between them.
//
// The package has no clock, client or goroutine. Package fence has the state machine of the writer.
//
// Read segment.go first, then accept.go, then docs/format.md.
package natslog
