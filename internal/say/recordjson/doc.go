// Package recordjson writes records as JSON for programs.
//
// [Record] writes one record on one line. Its comment documents the shape, and a golden test keeps it. [Facts], [Spec],
// [Status] and [Exits] write parts of a record in the same shape. Invariants:
//
//   - The shape changes only by adding fields. The same record gives the same bytes.
//   - Times are UTC, RFC 3339 with nanoseconds ([Instant]).
//   - Every character is visible: foreign texts (names, messages, exit texts) cannot control a terminal.
//
// The package does no I/O. Read record.go first, then encode.go.
package recordjson
