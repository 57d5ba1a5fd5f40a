// Package follow reads a log on behalf of a consumer: a program part that publishes, counts or shows durable records.
//
// [Cursor] passes each durable record once, in order, and waits for more. [Offset] stores how far a consumer has read,
// in the log itself. [Jobs] finds the Job of a record, and [Commands] the command that a record ends, because few
// records say these themselves:
//
//	c := follow.Cursor{Log: log, Next: through + 1, Take: func(ctx context.Context, r *events.Record) error {
//		job, err := jobs.Of(ctx, r)
//		jobs.Shown(r)
//		…
//	}}
//	err := c.Run(ctx)
//
// Invariants:
//
//   - A record is passed again only if its consumer returned an error for it.
//   - The caches of Jobs and Commands are bounded. An entry that is missing is read from the log with the same result,
//     so a consumer may begin anywhere.
//   - A log of an older program, whose CommandEnded does not name the kind of command, gives the same results with more
//     reads.
//
// # Concurrency
//
// One goroutine at a time may use a Cursor, Jobs or Commands; each consumer has its own. Any goroutine may use an
// Offset.
//
// Read cursor.go first, then commands.go.
package follow
