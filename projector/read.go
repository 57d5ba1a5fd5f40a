package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
)

// Reading returns the command in flight that reads the Job's object from the API server; nil for none.
func (j *Job) Reading() *commands.Flight { return j.book.Itself.Flight(events.SlotRead) }

// readEnded updates the Job when a live read has ended. If the read found the Job, an observation record before this
// one already has it.
func (j *Job) readEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	j.book.Land(flight)
	switch {
	case f.Ending == events.Done && string(f.UID) == j.Stream.ID:
		j.Look, j.Confirmed = false, j.Now
		j.endRead()
	case f.Ending == events.Done, f.Ending == events.Refused && f.Class == events.RefusedNotFound:
		j.gone() // another Job has the name, or no Job has it
	case f.Ending == events.Refused || f.Ending == events.OutcomeUnknown:
		j.Writing().Refused(j.Settings, flight.Since, j.Now, f)
	}
}

// endRead notes that a live read found the Job. A newer version has been recorded before. If the API server has
// answered each status write of unknown outcome, a write that the read does not show can no longer be stored: endRead
// ends the wait for it.
func (w *waits) endRead() {
	if w.endOver {
		w.endSettled()
	}
}

// deletionEnded updates the Job when the deletion of its object has ended. If the API server refused it because the Job
// has changed, a live read follows.
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

// gone updates the Job when its object was deleted. From then on none of its pods is counted.
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
