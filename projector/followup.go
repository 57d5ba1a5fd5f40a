package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// followUp holds what happened to a retired Job (finished, without work left) since it retired, and its commands in
// flight.
type followUp struct {
	now     events.Time // time of the newest record that concerned the Job
	deleted bool        // the Job's object is under deletion, or gone
	look    bool        // the object must be read from the API server before the next write
	book    commands.Book[*Retired]
}

// retiredRows says, for each kind of command, which methods of Retired handle it.
var retiredRows = commands.Rows[*Retired]{
	events.CommandReadJob:   {Over: (*Retired).readEnded},
	events.CommandDeleteJob: {Over: (*Retired).deleteEnded},
}

// followed returns what happened since the Job retired (finished, without work left). It creates the followUp at the
// first record after that.
func (r *Retired) followed() *followUp {
	if r.followUp == nil {
		r.followUp = &followUp{}
		r.followUp.book = commands.New(r, &retiredRows, r.Settings)
	}
	return r.followUp
}

// Apply updates the retired Job (finished, without work left) by one record. The World sets the field TTL before it
// calls Apply.
func (r *Retired) Apply(rec *events.Record) {
	if rec.Stream == r.ID() {
		r.Head = rec.Sequence
	}
	u := r.followed()
	u.now = rec.Time
	switch f := rec.Facts.(type) {
	case *events.JobSeen:
		r.seen(f)
	case *events.Decision:
		if rec.Kind == events.KindDecided {
			u.book.Decide(rec, f)
		}
	case *events.CommandEnded:
		u.book.End(rec, f)
	case *events.ClockStepped:
		u.book.Shift(f.Step)
	case *events.ControllerStarted:
		u.book.Restart()
	}
}

// seen updates the retired Job (finished, without work left) by an observation of its object. It ignores an observation
// of an older version.
func (r *Retired) seen(f *events.JobSeen) {
	if f.Version < r.Version {
		return
	}
	if retry := r.followUp.book.Shared(events.BackoffWrites); f.Version > r.Version && retry.Class == events.RefusedConflict {
		// A write was refused because of a newer version, and this is that version: end the backoff
		retry.Clear()
	}
	r.Version = f.Version
	if f.Status != nil {
		r.Finished = finishTime(f.Status.Conditions)
	}
	r.followUp.deleted, r.followUp.look = f.Deleted != 0, false
}

// readEnded updates the retired Job (finished, without work left) when a read from the API server has ended. If the
// read found the Job, an observation record before this one already has it.
func (r *Retired) readEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	u := r.followUp
	switch {
	case f.Ending == events.Done && f.UID == r.Ref.UID:
		u.look = false
	case f.Ending == events.Done, f.Ending == events.Refused && f.Class == events.RefusedNotFound:
		u.deleted = true // the object is gone: another Job has the name, or no Job has it
	case f.Ending == events.Refused, f.Ending == events.OutcomeUnknown:
		u.book.Shared(events.BackoffWrites).Refused(r.Settings, flight.Since, u.now, f)
	}
}

// News reports whether an observation of the object of a retired Job (finished, without work left) is to be recorded:
// it changes the deletion time, or answers a live read. Without Settings.DeleteExpired no decision reads it, so it is
// never recorded.
func (r *Retired) News(o *events.Observation, f *events.JobSeen) bool {
	switch {
	case !r.Settings.DeleteExpired || f.Version <= r.Version:
		return false
	case r.Look():
		return true
	}
	finished := r.Finished
	if f.Status != nil {
		finished = finishTime(f.Status.Conditions)
	}
	return ttlOf(o.Spec) != r.TTL || (f.Deleted != 0) != r.Deleted() || finished != r.Finished
}

// deleteEnded updates the retired Job (finished, without work left) when its deletion has ended. If the API server
// refused it because the Job has changed, a read from the API server follows.
func (r *Retired) deleteEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	u := r.followUp
	switch {
	case f.Ending == events.Done, f.Ending == events.Refused && f.Class == events.RefusedNotFound:
		u.deleted = true
	case f.Ending == events.Refused, f.Ending == events.OutcomeUnknown:
		u.look = u.look || f.Class == events.RefusedConflict
		u.book.Shared(events.BackoffWrites).Refused(r.Settings, flight.Since, u.now, f)
	}
}

// Expires returns the end of the Job's TTL; 0 if it is not to be deleted, or is already under deletion.
func (r *Retired) Expires() events.Time {
	if r.Deleted() {
		return 0
	}
	return expiresAt(r.Finished, r.TTL, r.Settings)
}

// Due returns when a decision about the Job is needed: at the end of its TTL. It is a time of the API server's clock,
// so a step of our clock does not move it.
func (r *Retired) Due(now events.Time) events.Time {
	if at := r.Expires(); at != 0 {
		return max(at, now)
	}
	return 0
}

// Deleted reports whether the Job's object is under deletion or gone.
func (r *Retired) Deleted() bool { return r.followUp != nil && r.followUp.deleted }

// Look reports whether a live read is needed before the next write.
func (r *Retired) Look() bool { return r.followUp != nil && r.followUp.look }

// Busy reports whether a command of the Job is in flight.
func (r *Retired) Busy() bool { return r.followUp != nil && r.followUp.book.Busy() }

// Writing returns the backoff that writes and reads of the Job's object share; zero if none was refused.
func (r *Retired) Writing() commands.Retry {
	if r.followUp == nil {
		return commands.Retry{}
	}
	return *r.followUp.book.Shared(events.BackoffWrites)
}

// InFlight returns the command with the ID name if it is in flight (decided, and not ended); else nil.
func (r *Retired) InFlight(name events.CommandID) events.Command {
	if r.followUp == nil {
		return nil
	}
	return r.followUp.book.InFlight(name)
}

func (u *followUp) toWire(names *pb.StateNames) *pb.FollowUpState {
	if u == nil {
		return nil
	}
	w := &pb.FollowUpState{
		Now: int64(u.now), Deleted: u.deleted, Look: u.look, Writing: commands.RetryToWire(u.book.Shared(events.BackoffWrites)),
	}
	for _, f := range u.book.InOrder() {
		w.Flights = append(w.Flights, commands.FlightToWire(f, names))
	}
	return w
}

func (r *Retired) restoreFollowUp(w *pb.FollowUpState) error {
	if w == nil {
		return nil
	}
	u := r.followed()
	u.now, u.deleted, u.look = events.Time(w.GetNow()), w.GetDeleted(), w.GetLook()
	*u.book.Shared(events.BackoffWrites) = commands.RetryFromWire(w.GetWriting())
	reader := &stateReader{}
	for _, f := range w.GetFlights() {
		u.book.Relaunch(reader.flight(f), &u.book.Itself)
	}
	return reader.err
}

// ID returns the name of the Job's stream (its part of the log).
func (r *Retired) ID() events.Stream { return events.JobStream(r.Ref.UID) }
