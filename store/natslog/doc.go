// Package natslog says what a replicated log writes into its stream on NATS JetStream, and which of the stream's
// messages count. The stream orders and stores; each replica appends what counts to a log of its own:
//
//	store.Options.Before ──▶ GroupOf ──▶ Encode ──▶ fence ──▶ the stream, one message on its way
//	   (the leader's log)                  parts      │                  │
//	                                                  ▼                  ▼
//	store.Follower  ◀── Segment.Batches ◀── Verdict ◀── Accept(State, message)
//	   (a replica's log)
//
// A message is a [Segment]: a claim, which begins a term, a group of records, or a part of one, a release, or the end
// of the stream. [Accept] is a pure function, the same for every reader. A message that does not fit is void: it takes
// a place in the stream and counts for nothing. Invariants:
//
//   - Of all writers only the one of the newest claim adds records, and only behind the head that its message names.
//   - Groups that were taken give one chain. A group counts when its last part is taken; a claim ends parts that wait.
//   - A State depends on the messages that were taken, in order, and on nothing that was void between them.
//
// The package has no clock, client or goroutine. Below it, package fence is the writer's side.
//
// Read segment.go first, then accept.go, then docs/format.md.
package natslog
