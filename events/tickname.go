package events

// tickFates holds the names of the fates of due times in JSON and metrics. They never change.
var tickFates = [...]string{
	TickStarted: "Started", TickMerged: "Merged", TickTooLate: "TooLate", TickRefused: "Refused", TickLost: "Lost", TickUnwatched: "Unwatched",
	TickDeleted: "CronJobDeleted", TickReplaced: "ScheduleChanged", TickAgain: "StartedAgain", TickManual: "MadeByHand",
	TickTriggered: "Triggered", TickSkipped: "NotStarted", TickUnknown: "Unknown",
}

// String returns the name of what became of a due time, such as "Started". The names never change.
func (f TickFate) String() string {
	if int(f) < len(tickFates) && tickFates[f] != "" {
		return tickFates[f]
	}
	return "Unknown"
}

// tickHolds holds the names of the values of TickHold in JSON. They never change.
var tickHolds = [...]string{HeldForbid: "Forbid", HeldSuspended: "Suspended", HeldBadZone: "UnknownTimeZone", HeldNoCreate: "Refused"}

// String returns the name of the reason, which never changes; empty for NotHeld.
func (h TickHold) String() string {
	if int(h) < len(tickHolds) {
		return tickHolds[h]
	}
	return "Unknown"
}
