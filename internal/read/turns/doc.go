// Package turns limits how many questions are answered at the same time.
//
//	t := turns.New(turns.Config{})
//	done, err := t.Take(ctx, user)
//	if err != nil { /* 503, Retry-After: 2 */ }
//	defer done()
//
// A question waits up to 2 s for its turn and is refused then. One user holds at most 2 of the 8 turns, so other users
// get theirs. Config changes these numbers.
//
// # Concurrency
//
// Several goroutines may use a Turns. After an error the caller holds no turn.
package turns
