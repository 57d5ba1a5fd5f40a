// Package subscribe receives the events of a cluster from its NATS stream, in order, and detects missing ones.
//
// [Run] calls a function with one event after the other:
//
//	err := subscribe.Run(ctx, js, subscribe.Config{Cluster: "prod", Durable: "billing"},
//		func(ctx context.Context, e *subscribe.Event) error {
//			if e.Gap != (subscribe.Gap{}) {
//				log.Printf("missing: %s", e.Gap)
//			}
//			return handle(e) // with an error, Run calls again later with the same event
//		})
//
// Invariants:
//
//   - Events come in the order of the stream, which is that of the log, even after failures and restarts. If the
//     function refuses an event, Run calls it again with the same event after a pause, before any later event.
//   - Nothing is skipped. Run goes on after the last event that the function took; with a durable name also in another
//     process. An event that was taken just before the process was killed comes again, with the same ID.
//   - Within one Run, an event comes at most once after it was taken, and no event before it or before the requested
//     beginning comes. This holds even if the stream is recreated and refilled, or its store is restored: Run compares
//     record IDs, not positions in the stream. An event that was reported missing does not come later. To act exactly
//     once across restarts, store the ID together with the effect and begin with [After].
//   - Events that the stream no longer holds, or never held, are reported as a [Gap] with its bounds, at the next
//     event. With filters, some gaps can only be detected by asking the stream; Run does that within a second, see
//     hole.go.
//   - Records of a restored or new log are never mistaken for those of the earlier epoch ([Event.Before]).
//
// Run ends with its context, when the function refuses an event too often, or at a message that cannot be decoded
// ([UnreadableError]) unless Config.Unreadable accepts it. An unreachable server does not end it; Run calls
// Config.Trouble.
//
// [Order] is the check for missing events alone, for messages received in other ways.
//
// # Concurrency
//
// Run calls the function from the goroutine that called Run. Two more goroutines read messages from the client and
// report progress to the server; both end with Run.
//
// Read config.go first, then run.go, then order.go and hole.go.
package subscribe
