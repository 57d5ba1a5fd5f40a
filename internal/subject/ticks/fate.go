package ticks

import "time"

// Fate is what became of a due time. Numbers are for ever.
type Fate uint8

// The fates.
const (
	Started   Fate = iota + 1 // a Job was made for it
	Merged                    // a later one became due before it could start, and runs for both (C-081)
	TooLate                   // spec.startingDeadlineSeconds was over before it could start (C-083)
	Refused                   // the API server has another object in its place, or it can never be made (C-160)
	Lost                      // the built-in's estimate passed over it (C-080)
	Unwatched                 // no controller watched when it was due, and a later one was due when one watched again
	Deleted                   // the CronJob was deleted, or is being deleted
	Replaced                  // the schedule was changed while it was open
	Again                     // it had its fate, or is of before the schedule was changed, and a Job was made nevertheless

	Skipped Fate = 12 // another controller did not start it before a later one was due, or somebody set status.lastScheduleTime beyond it
	Unknown Fate = 13 // another controller ran the CronJob, and nobody watched when it may have started it
)

// String is the fate in words.
func (f Fate) String() string {
	switch f {
	case Started:
		return "started"
	case Merged:
		return "merged into a later one"
	case TooLate:
		return "too late"
	case Refused:
		return "refused"
	case Lost:
		return "lost by the estimate"
	case Unwatched:
		return "missed while no controller watched"
	case Deleted:
		return "CronJob deleted"
	case Replaced:
		return "schedule changed"
	case Again:
		return "started again"
	case Skipped:
		return "not started"
	}
	return "unknown"
}

// Hold is what holds an open instant back. Numbers are for ever.
type Hold uint8

// What may hold an instant back.
const (
	NotHeld   Hold = iota // it is about to start
	Forbid                // a Job of before runs (C-144)
	Suspended             // spec.suspend (C-133)
	BadZone               // spec.timeZone has no rules (C-132)
	NoCreate              // the API server refuses the Job, and it is tried again (C-163)
)

// Entry is the fate of one due time, or of all that follow one another in a range.
type Entry struct {
	First, Last time.Time // the same for one
	Fate        Fate
	Into        time.Time     // of Merged: the later one; of Skipped: the later one that was started; zero for none
	Late        time.Duration // of Started: how long after it was due
	Gap         Gap           // of Unknown
}
