package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
)

// Reading is the live read in flight; nil for none.
func (j *Job) Reading() *commands.Flight { return j.book.Itself.Flight(events.SlotRead) }

// readEnded folds the end of a live read. What was found has been folded as an observation before.
func (j *Job) readEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	j.book.Land(flight)
	switch {
	case f.Ending == events.Done && string(f.UID) == j.Stream.ID:
		j.Look, j.Confirmed = false, j.Now
		j.endRead()
	case f.Ending == events.Done, f.Ending == events.Refused && f.Class == events.RefusedNotFound:
		j.gone() // another Job has the name, or none
	case f.Ending == events.Refused || f.Ending == events.OutcomeUnknown:
		j.Writing().Refused(j.Settings, flight.Since, j.Now, f)
	}
}

// endRead folds a live read that found the Job. What a newer version says has been folded.
func (w *waits) endRead() {
	if w.endOver {
		w.endSettled()
	}
}

// deletionEnded folds how a deletion of the Job's object ended. What the Job is by then, when it has changed, a live
// read shows.
func (j *Job) deletionEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	switch {
	case f.Ending == events.Done, f.Ending == events.Refused && f.Class == events.RefusedNotFound:
		if j.Deleted == 0 { // its version with a deletionTimestamp is on its way
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

// gone folds the end of the Job's object: nothing of it is to be counted any more.
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
