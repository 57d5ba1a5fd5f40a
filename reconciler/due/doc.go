// Package due has queues of what is to happen later:
//
//	q := due.New(cmp.Compare[string])
//	q.Set("prod", now.Add(time.Minute))
//	key, ok := q.Next(now) // the next key whose time is over; the queue drops it
//
// [Queue] maps keys to times. [Progress] spreads the status writes that only show progress. Both are derived from the
// state: after a loss of them each subject is evaluated once, and asks for the same times again.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package due
