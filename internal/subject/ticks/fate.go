package ticks

import "time"

// Fate is what became of a due time. The numbers are stored and never change.
type Fate uint8

// The values: what became of a due time.
const (
	Started   Fate = iota + 1 // a Job was created for it
	Merged                    // a later due time came before it could start, and runs for both (C-081)
	TooLate                   // spec.startingDeadlineSeconds ended before it could start (C-083)
	Refused                   // another object has the Job's name, or the Job can never be created (C-160)
	Lost                      // the built-in controller's estimate of missed due times left it out (C-080)
	Unwatched                 // no controller watched when it was due, and a later one was due by the next watch
	Deleted                   // the CronJob is deleted or under deletion
	Replaced                  // the schedule was changed while it was open
	Again                     // a Job was created although it had a fate, or was from before a schedule change

	Skipped Fate = 12 // another controller did not start it, or status.lastScheduleTime was set beyond it
	Unknown Fate = 13 // another controller may have started it while nobody watched
)

// String returns the fate in words.
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

// Hold is the reason why an open due time does not start now. The numbers are stored and never change.
type Hold uint8

// The reasons why an open due time does not start.
const (
	NotHeld   Hold = iota // nothing: the due time is about to start
	Forbid                // an earlier Job still runs (C-144)
	Suspended             // spec.suspend is true (C-133)
	BadZone               // spec.timeZone has no rules (C-132)
	NoCreate              // the API server refuses the Job; retried (C-163)
)

// Entry is an entry of the ledger: what became of one due time, or of consecutive ones.
type Entry struct {
	First, Last time.Time // equal for a single one
	Fate        Fate
	Into        time.Time     // Merged: the later due time; Skipped: the later one that started; zero for none
	Late        time.Duration // Started: delay of the start
	Gap         Gap           // for Unknown only: the time in which nobody watched
}
