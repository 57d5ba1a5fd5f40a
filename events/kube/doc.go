// Package kube publishes the Kubernetes Events that users expect from a Job controller (contract J-194), out of the
// durable log.
//
// [Of] says which Events a record gives rise to, and is pure. [Publisher] is the consumer "kube-events" of a log: it
// reads durable records, makes their Events, and notes how far it has got. Invariants:
//
//   - An Event is published for what happened and is durable, never for what was only decided. A refusal that goes on is
//     told as often as the log notes it (docs/design/0002-refusals.md): at least once while an Event of it lives. One
//     Event has no record: that of [Alarm], which says that there is no room for records.
//   - Each is stored at most once: its name follows from the log's identity and its record, so that an Event that is
//     published again after a crash meets itself.
//   - Losing one changes nothing (J-195): what is older than [Config.MaxAge] is passed over, and so is what the API server
//     refuses. Many similar Events of one Job are combined into one with a count, as by every Kubernetes controller. The
//     count is told up to three seconds late, for all that came meanwhile; after a crash it may count the same twice.
//   - What a record does not say itself (what a status write stored, what the Job is called) is asked of package follow.
//
// # Concurrency
//
// A Publisher is one goroutine, apart from the loop: a slow API server makes it lag behind the log, and the loop does
// not wait for it.
//
// Read event.go first, then publisher.go and gather.go, then room.go.
package kube
