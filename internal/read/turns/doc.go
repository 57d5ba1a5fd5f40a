// Package turns bounds how many questions are answered at a time.
//
//	t := turns.New(turns.Config{})
//	done, err := t.Take(ctx, user)
//	if err != nil { /* 503, Retry-After: 2 */ }
//	defer done()
//
// A question waits for its turn for a while, then it is refused. One user holds no more than a few turns, so that
// others get theirs.
//
// # Concurrency
//
// A Turns is used by several goroutines. Who was refused holds nothing.
package turns
