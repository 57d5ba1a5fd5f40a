// Package subscribe takes the events of a cluster from its NATS stream, in order, and proves that none is missing.
//
// [Run] hands each event to a function, one after the other. Invariants:
//
//   - Events come in the order of the stream, which is that of the log, whatever breaks and is killed meanwhile. An event that
//     the function refuses is handed over again, after a pause, before anything that follows it.
//   - Nothing is passed over. Run goes on after the last event that the function took; with a durable name also in another
//     process. What the function took just before a process was killed comes again, with the same ID.
//   - An event that was taken is not handed over again by the same Run, nor is one before it or before what was asked for: not when the
//     stream is made anew and filled again, and not when its store is restored. Record IDs say what is before what, places in the
//     stream do not. So what was reported missing stays missing. Whoever must not act twice across restarts keeps the ID with what it does and
//     begins with [After].
//   - What the stream does not hold any more, or never did, is reported as a [Gap] with its bounds, at the first event after it.
//     Who asks for some Jobs, namespaces or kinds of events is told within a second, where only the stream can say it: see hole.go.
//   - The records of a log that was restored or begun anew are not taken for those of the life before ([Event.Before]).
//
// Run ends with its context, when the function refuses an event too often, or at a message that cannot be read
// ([UnreadableError]), unless Config.Unreadable goes on after it. That a server is away does not end it: Config.Trouble
// is told.
//
// [Order] is the check alone, for messages that came by other ways.
//
// # Concurrency
//
// The function is called by one goroutine, the one that called Run. Beside it two others run, one that takes messages
// from the client and one that tells the server that they are worked on, and both end with Run.
//
// Read config.go first, then run.go, then order.go and hole.go.
package subscribe
