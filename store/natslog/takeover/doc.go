// Package takeover makes a process that follows a replicated log its leader. It ensures the order of the steps; the
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
// If the stream ends before the local log, it has lost records. They are stored in the stream again, from the log,
// after the claim (a refill):
//
//	Short ─▶ Refills ─▶ claim at the end of the stream ─▶ a message for each missing group ─▶ as above
//
// The claim also proves that the stream ended there, because servers that have more messages refuse it.
//
// Invariants:
//
//   - Nothing is sent to the stream unless the Lease was held right before.
//   - A claim names the end of the stream as it was read, which must be a head of the local log. If it is not the end
//     of the log, nothing is claimed unless Short permits it.
//   - A term begins when the claim was read back from the stream at the place where it was acknowledged, all records
//     before it are durable in the local log, and the Lease is held.
//
// After an error the process must not append. The claim may be in the stream, and may have ended the old leader's term;
// the next claim, by any process, then ends this one's.
//
// # Concurrency
//
// Until Take returns, the caller must not use the follower, the line or the writing methods of the log.
package takeover
