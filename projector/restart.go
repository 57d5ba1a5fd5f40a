package projector

// restarted folds a process's start: what was in flight is in doubt. Deletions, finalizer removals and reads are asked
// again where they are still wanted; a status write is decided afresh from a version seen since; a create keeps its slot
// until it has ended. What is in backoff stands.
func (j *Job) restarted() {
	j.rivalry.began = 0
	j.doubtEnd(false)
	j.groupDoubted()
	j.book.Restart()
	j.waitsAgain()
	j.Recheck = len(j.creates) > 0
}
