// Package fence is the writer of a replicated log's stream, as a state machine. It has no goroutine, clock or client,
// so a simulation can drive it through every order of answers. S is the message to store, last is the last place
// (sequence in the stream) that is known:
//
//	           Store(S)                      acknowledged at last+1
//	 idle -----------------> send S ---------------------------------> the next S, or stored
//	  ^                  expecting last <--------------+
//	  | newest read          | any other answer        | void: last is one more
//	  | every 2 s            | or none for 1 s         | no message: wait 50 ms to 1 s
//	  v                      v                         |
//	newest             read last+1 --------------------+
//	                         +-- it is S ---> stored
//	                         +-- a claim ---> fenced
//
// The caller asks for one action at a time, carries it out, and reports the result. Invariants:
//
//   - At most one message is in flight. It is sent again unchanged, expecting the same last place, until it is known
//     which message is in place last+1.
//   - If the server refuses S, this proves nothing: it compares with proposed messages, not with committed ones.
//   - Place last+1 is taken only once, so a message that is read there is final. The answer that there is no message
//     may be stale.
//   - Stored is set exactly when every part of a group is stored.
//
// Read machine.go first, then docs/design/0028-replicated-log.md.
package fence
