// Package follow is how the consumers of a log read it: those that publish, count or show what is durable.
//
// [Cursor] gives each durable record once, in order, and waits for more. [Offset] keeps how far a consumer has got, in
// the log. What a record does not say itself is asked of [Jobs] (which Job a stream is) and [Commands] (which command
// ended); consumers remember neither. Invariants:
//
//   - A record is given again only when its consumer failed on it.
//   - What Jobs and Commands remember is bounded. It is a help and no more: what is not remembered is read from the log, with the same
//     answer, so a consumer may begin anywhere.
//   - A log of programs whose CommandEnded does not say what the command was is followed alike; only more of it is read.
//
// # Concurrency
//
// One goroutine at a time may use a Cursor, Jobs or Commands. Each consumer has its own. An Offset may be used from any
// goroutine.
//
// Read cursor.go first, then commands.go.
package follow
