// Package takeover makes a process that follows a replicated log its leader. It holds the order of the steps; the Lease
// belongs to the caller:
//
//	hold the Lease ─▶ read the newest place ─▶ follow up to there ─▶ claim the next term
//	                          ▲                                         │
//	                          └────── records came before the claim ────┤
//	                                                                    ▼
//	lead ◀─ still hold the Lease ◀─ the disk has all before ◀─ read one's own claim from the stream
//
//	term, err := takeover.Take(ctx, takeover.Config{Stream: s, Follower: f, Line: l, Log: log, Holds: lease.Holds})
//	go l.Run(ctx)   // now the log may be appended to
//
// Invariants:
//
//   - Nothing is sent to the stream unless the Lease is held right before.
//   - A claim names the end of the own log, which is the end of the stream as it was read. Where the two differ nothing
//     is claimed.
//   - A term has begun when the claim came back through the stream at the place in which it was acknowledged, all
//     records before it are durable in the own log, and the Lease is held.
//
// After an error the process must not append: the claim may be in the stream, and then it has ended the old leader's
// term. The next claim ends this one.
//
// # Concurrency
//
// Nobody else uses the follower, the line or the log's writing side until Take has returned.
package takeover
