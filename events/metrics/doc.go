// Package metrics serves the metrics of the built-in Job controller, under the names that users' dashboards already
// have (J-196 to J-205), and of the built-in TTL controller (T-062), out of the durable log.
//
// [Metrics] is the ten of them, and the one. [Consumer] counts what durable records say, from where the log ends when
// the process starts: counters begin with 0 then, as Prometheus expects, and history is not counted again. Invariants:
//
//   - Counted is what the API server confirmed, never what was only decided.
//   - A record is counted once. What is found by the listing of a start was there before, and only sets the base that is
//     counted from.
//   - What records to come need (a Job's completion mode and last counters, commands in flight, ended pods) is remembered
//     for unfinished Jobs only: it goes when the Job is retired or its object is gone. What is told of a retired Job brings none of
//     it back; of a deletion in flight its name and the expiry are remembered.
//
// What a sync of the built-in controller is, here is one decision about one Job: [Consumer] finds them in a batch as
// the Jobs that its inputs touched. docs/operating.md says how the labels map.
//
// # Concurrency
//
// Metrics may be used from any goroutine. A Consumer is one goroutine, apart from the loop: it may lag, and the loop
// does not wait for it.
//
// Read metrics.go first, then consumer.go.
package metrics
