// Package fence is the writer of a replicated log's stream, as a step machine. It has no goroutine, clock or client, so
// a simulation can drive it through every order of answers.
//
//	           Store(S)                      acknowledged at last+1
//	 idle ─────────────────▶ send S ─────────────────────────────────▶ the next S, or stored
//	  ▲                  expecting last ◀──────────────┐
//	  │ newest read          │ any other answer        │ void: last is one more
//	  │ every 2 s            │ or none for 1 s         │ nothing there: wait 50 ms to 1 s
//	  ▼                      ▼                         │
//	newest             read last+1 ────────────────────┤
//	                         ├── it is S ──▶ stored    │
//	                         └── a claim ──▶ fenced
//
// A caller asks for one action at a time, does it, and reports the result. Invariants:
//
//   - At most one message is in flight. It is sent again unchanged, with its expectation, until place last+1 is known.
//   - A refusal proves nothing: the server compares with what it proposed, not with what is committed.
//   - Place last+1 is taken only once, so a message read there is final. An answer that nothing is there may be stale.
//   - Stored is set when every part of a group is stored, and at no other time.
//
// Read machine.go first, then docs/design/0028-replicated-log.md.
package fence
