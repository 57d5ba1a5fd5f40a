// Package jobcase folds the records of one Job into a [Case]: its tries, the edits of its spec, the refusals of the
// API server, the controllers that ran it, and what settled its end.
//
// A Case has facts, and no opinion: which record shows what. The rooms above judge, each with functions over a
// *Case:
//
//	c, err := jobcase.Read(ctx, src, events.JobStream(uid), history.Point{})
//	for _, t := range c.Tries {
//		fmt.Println(t.Pod, t.End().Record)
//	}
//
// What its tries count as is not corrected yet by the Job's final status: package ending does so in its own Read.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use. Methods may read the log, and cache what they read.
//
// Read case.go first, then podseen.go, settled.go and wanting.go.
package jobcase
