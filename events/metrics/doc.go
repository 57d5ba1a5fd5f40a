// Package metrics serves the metrics of the built-in Job controller, under the names that existing dashboards use
// (J-196 to J-205), and of the built-in TTL controller (T-062), from the durable log.
//
// [Metrics] is the Prometheus collector. [Consumer] updates it from durable records, beginning with the end of the log
// at the start of the process. So counters begin with 0, as Prometheus expects, and history is not counted again.
//
// Invariants:
//
//   - Only what the API server confirmed is counted, never what was only decided.
//   - A record is counted once. The listing of a start reports what was there before, so it only sets the base for
//     counting.
//   - State for later records (a Job's completion mode and last counters, commands in flight, ended pods) is kept for
//     unfinished Jobs only. It is dropped when the Job has no work left (is retired) or its object is gone; records
//     after that do not restore it. For a deletion in flight, the name and the expiry are kept.
//
// A sync of the built-in controller corresponds to one decision about one Job: [Consumer] finds it from the records of
// a batch. docs/operating.md describes the labels.
//
// # Concurrency
//
// Any goroutine may use Metrics. A Consumer is one goroutine besides the loop: it may lag, and the loop does not wait
// for it.
//
// Read metrics.go first, then consumer.go.
package metrics
