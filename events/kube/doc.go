// Package kube publishes the Kubernetes Events that users expect from a Job controller (contract J-194), from the
// durable log.
//
// [Of] computes the Events of a record, and is pure. [Publisher] is the consumer "kube-events" of a log: it reads
// durable records, publishes their Events, and stores in the log how far it has got. For example, a CommandEnded of a
// CreatePod with the outcome done gives "Normal SuccessfulCreate Created pod: demo-abc12".
//
// Invariants:
//
//   - An Event reports what happened and is durable, never what was only decided. A refusal that continues is reported
//     as often as the log records it (docs/design/0002-refusals.md): at least once within the lifetime of an Event. One
//     Event has no record: that of [Alarm], which reports that there is no room for records.
//   - Each Event is stored at most once. Its name follows from the log's identity and the record, so a second
//     publication after a crash finds the first one.
//   - Losing an Event changes nothing (J-195). The publisher skips records older than [Config.MaxAge], and gives up an
//     Event that the API server refuses. It combines many similar Events of one Job into one with a count, like every
//     Kubernetes controller. It sends the count with a delay of up to three seconds; after a crash it may count an
//     occurrence twice.
//   - Package follow supplies what a record does not say itself: which command ended, and the name of the Job.
//
// # Concurrency
//
// A Publisher is one goroutine besides the loop. If the API server is slow, the publisher lags behind the log; the loop
// does not wait.
//
// Read event.go first, then publisher.go and gather.go, then room.go.
package kube
