package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
)

// Reading returns the live read in flight; nil for none.
func (j *Job) Reading() *commands.Flight { return j.book.Itself.Flight(events.SlotRead) }

// readEnded folds the outcome of a live read. The Job that was found has already been folded as an observation.
func (j *Job) readEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	j.book.Land(flight)
	switch {
	case f.Ending == events.Done && string(f.UID) == j.Stream.ID:
		j.Look, j.Confirmed = false, j.Now
		j.endRead()
	case f.Ending == events.Done, f.Ending == events.Refused && f.Class == events.RefusedNotFound:
		j.gone() // another Job has the name, or no Job has
	case f.Ending == events.Refused || f.Ending == events.OutcomeUnknown:
		j.Writing().Refused(j.Settings, flight.Since, j.Now, f)
	}
}

// endRead folds a live read that found the Job. If it found a newer version, that has been folded already. Otherwise,
// if the API server has answered each write of unknown outcome, none of these can be stored any more.
func (w *waits) endRead() {
	if w.endOver {
		w.endSettled()
	}
}

// deletionEnded folds the outcome of deleting the Job's object. If the Job has changed, a live read follows.
func (j *Job) deletionEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	switch {
	case f.Ending == events.Done, f.Ending == events.Refused && f.Class == events.RefusedNotFound:
		if j.Deleted == 0 { // the version with a deletionTimestamp has not been seen yet
			j.Deleted = j.Now
			j.recount()
		}
	case f.Ending == events.Refused, f.Ending == events.OutcomeUnknown:
		if f.Class == events.RefusedConflict {
			j.Look, j.Recheck = true, true
		}
		j.Writing().Refused(j.Settings, flight.Since, j.Now, f)
	}
}

// gone folds the deletion of the Job's object. From then on nothing of the Job is counted.
func (j *Job) gone() {
	j.Gone, j.claims = true, nil
	for _, f := range j.book.InOrder() {
		if p := j.podOf(f); p != nil {
			p.touched = true
			j.endMet(p)
		}
	}
	j.recount()
}
