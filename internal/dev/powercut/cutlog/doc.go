// Package cutlog checks a log on disk after a power cut.
//
// A Teller wraps the log that a recorded process writes. It reports each append on standard output before it happens,
// and each acknowledgement after it, so both are in the trace among the system calls. Heard parses these reports. Check
// opens the log in a state that a power cut left, and compares.
//
// Check demands of each state:
//
//   - The log opens, and verify finds no damage, before and after it was opened.
//   - Every acknowledged record is there, and every durable offset of a consumer, the newest snapshot, and the key.
//   - There is no record that was not appended with exactly these bytes, and no offset beyond the head.
//   - A start repairs only once: after a clean stop the next start changes nothing, and verify has no notes.
//   - The log can be appended to, and the new records are durable.
//
// # Concurrency
//
// A Teller is for one writer, like the log it wraps.
//
// Read next: tell.go, check.go, cuts.go; powercut_test.go for the cases. cmd/jobledger uses it to test the whole
// command.
package cutlog
