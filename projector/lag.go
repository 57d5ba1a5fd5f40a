package projector

import "github.com/jobledger/jobledger/events"

// lag updates Lagging: the time since when the published status has been out of date. After a confirmed write that time
// begins again, so that writes that only show progress do not follow each other at once.
func (j *Job) lag() {
	behind := j.Known() && !j.Gone && !j.finished && j.behind()
	switch {
	case !behind:
		j.Lagging = 0
	case j.Lagging == 0:
		j.Lagging = j.Now
	}
}

func (j *Job) behind() bool {
	t := &j.tally
	active, ready, terminating := t.Shown()
	if j.Base.Active != active || max(j.Base.Ready, 0) != ready || max(j.Base.Terminating, 0) != terminating ||
		(j.Indexed && !(j.Base.Completed.Below(j.Completions) && j.Base.FailedIndexes.Below(j.Completions))) ||
		(j.Indexed && j.Base.Succeeded > j.Base.Completed.Len() && j.MayLower) ||
		j.unlisted.n > 0 || t.Countable > 0 {
		return true
	}
	// While the first pods are being created without refusals, no write is made only for the fields that every status
	// gets once, such as startTime
	making := len(j.creates) > 0 && j.Creating().Count == 0
	return !making && (j.Base.Ready == events.Unset || j.Base.Terminating == events.Unset ||
		!j.Base.HasUncounted || (j.Start != 0 && j.Base.StartTime == 0))
}

// Shown returns the active, ready and terminating counts for the status. A pod counts as terminating from the decision
// to delete it or to remove its finalizer, as in the built-in controller (J-026, J-028). While that command is in
// backoff after a refusal, the pod counts as active (J-150).
func (t *Tally) Shown() (active, ready, terminating int32) {
	return t.Active - t.Going, t.Ready - t.GoingReady, t.Terminating + t.Going
}
