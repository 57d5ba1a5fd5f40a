// Package turns limits how many questions are answered at the same time.
//
//	t := turns.New(turns.Config{})
//	done, err := t.Take(ctx, user)
//	if err != nil { /* 503, Retry-After: 2 */ }
//	defer done()
//
// At most 8 questions are answered at the same time, at most 2 of them for one user, so that other users are not kept
// out. A further question waits up to 2 s for its turn, and is then refused. Config changes these numbers.
//
// # Concurrency
//
// Several goroutines may use a Turns. After an error the caller holds no turn.
package turns
