// Package recordjson writes records of the log as JSON for programs.
//
//	line := recordjson.Record(&record) // {"sequence":41,"time":"2026-01-02T15:04:05Z",…}
//
// [Record] writes one record on one line. Its comment documents the fields, and a golden test keeps them. [Facts],
// [Spec], [Status] and [Exits] write parts of a record in the same way. Invariants:
//
//   - The JSON changes only by adding fields. The same record gives the same bytes.
//   - Times are UTC, RFC 3339 with nanoseconds ([Instant]).
//   - Every character is visible: foreign texts (names, messages, exit texts) cannot control a terminal.
//
// The package does no I/O. Read record.go first, then encode.go.
package recordjson
