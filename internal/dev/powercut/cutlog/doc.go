// Package cutlog checks what a log on disk is after a power cut.
//
// A Teller wraps the log that a recorded process writes. It says on the standard output what is appended before it is,
// and what was acknowledged after it was, so that both stand in the trace among the system calls. Heard reads that
// again. Check opens the log in the state that a power cut left and compares.
//
// What it demands of each state:
//
//   - The log opens, and verify finds no damage, before and after it was opened.
//   - Every record that was acknowledged is there, every consumer's offset that became durable, the newest snapshot, the key.
//   - No record is there that was not appended just so, and no offset beyond the head.
//   - What a start repairs it repairs once: after a stop in good order the next start changes nothing, and verify has nothing to note.
//   - The log goes on: what is appended then is durable.
//
// # Concurrency
//
// A Teller is for one writer, like the log in it.
//
// Read next: tell.go, check.go, cuts.go; powercut_test.go for what is tried. cmd/jobledger tries the whole command with
// it.
package cutlog
