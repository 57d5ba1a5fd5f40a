// Package projector folds records into the state of each Job and CronJob.
//
// A [World] is the state after a prefix of one log:
//
//	w := projector.NewWorld()
//	for rec := range records {
//		if err := w.Check(rec); err != nil {
//			return err
//		}
//		w.Apply(rec)
//	}
//	job := w.Job(events.JobStream(uid)) // nil if unknown or retired
//
// World holds one [Subject] per stream: a [Job], a [CronJob], a [Retired] Job, or the orphan pods of a namespace
// ([Strays]). A decision reads nothing but its subject. Folding is a function: the same records give the same state on
// any machine, from a snapshot or from the first record, and in either order of a command's outcome and its
// observation.
//
// Invariants:
//
//   - Apply cannot fail: records are validated when they are decoded. It changes the state in place. Its cost depends
//     on what the record changes, not on how many pods or indexes the Job has.
//   - The newest observed status is the published base. Only pods that still carry the finalizer are counted on top.
//   - Versions of an object only grow, except across a proven rewind of the cluster, which resets the state.
//   - Each wait (backoff, refusal, command in flight) is part of the state, as a time that moves with clock steps.
//
// Package intake, below this one, turns observations into records.
//
// # Concurrency
//
// World and its subjects are not safe for concurrent use; the loop owns them.
//
// Read subject.go and job.go first, then apply.go, then package reconciler.
package projector
