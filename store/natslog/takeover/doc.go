// Package takeover makes a process that follows a replicated log its leader. It keeps the order of the steps; the
// caller manages the Lease:
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
// A stream that ends before the log lost records. They are stored there again, from the log, behind the claim:
//
//	Short ─▶ Refills ─▶ claim behind the end of the stream ─▶ one message for each group that it lacks ─▶ as above
//
// The claim proves that the stream ended there: it is refused by servers that have more.
//
// Invariants:
//
//   - Nothing is sent to the stream unless the Lease was held right before.
//   - A claim names the end of the stream as it was read, which must be a head of the local log. If it is not the log's
//     end, nothing is claimed without Short's word.
//   - A term begins when the claim has come back through the stream at the place where it was acknowledged, all records
//     before it are durable in the local log, and the Lease is held.
//
// After an error the process must not append: the claim may be in the stream, and then it has ended the old leader's
// term. The next claim ends this one.
//
// # Concurrency
//
// Until Take returns, the caller must not use the follower, the line or the writing methods of the log.
package takeover
