// Package jobcase folds the records of one Job into a [Case]: its tries (pods), the edits of its spec, the refusals of
// the API server, the controllers that ran it, and what decided its end.
//
// A Case has only facts: which record shows what. The packages that import it draw the conclusions, with functions that
// take a *Case:
//
//	c, err := jobcase.Read(ctx, src, events.JobStream(uid), history.Point{})
//	for _, t := range c.Tries {
//		fmt.Println(t.Pod, t.End().Record)
//	}
//
// Each try says what it counts as: a success, a failure, or neither. ending.Read corrects this by the Job's final
// status; jobcase.Read does not.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use. Methods may read the log, and cache what they read.
//
// Read case.go first, then podseen.go, settled.go and wanting.go.
package jobcase
