// Package due has queues of subjects that must be evaluated at a later time:
//
//	q := due.New(cmp.Compare[string])
//	q.Set("prod", now.Add(time.Minute))
//	key, ok := q.Next(now) // the next key whose time has come; the queue drops it
//
// [Queue] maps keys to times. [Progress] spreads the status writes that only show progress. Neither is stored: after a
// restart each subject is evaluated once, and requests the same times again.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package due
