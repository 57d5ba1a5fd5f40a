// Package recordjson writes records as JSON for programs.
//
// [Record] writes one record on one line, in a shape that is documented there and kept by a golden test; [Facts],
// [Spec], [Status] and [Exits] write parts of one in the same shape. Invariants:
//
//   - The shape only grows. The same record gives the same bytes.
//   - Times are UTC, RFC 3339 with nanoseconds ([Instant]).
//   - Every character is visible: what others wrote (names, messages, exit texts) cannot steer a terminal.
//
// The package does no I/O. Read record.go first, then encode.go.
package recordjson
