package events

// tickFates are the fates of due times for programs, by number. They are for ever.
var tickFates = [...]string{
	TickStarted: "Started", TickMerged: "Merged", TickTooLate: "TooLate", TickRefused: "Refused", TickLost: "Lost", TickUnwatched: "Unwatched",
	TickDeleted: "CronJobDeleted", TickReplaced: "ScheduleChanged", TickAgain: "StartedAgain", TickManual: "MadeByHand",
	TickTriggered: "Triggered", TickSkipped: "NotStarted", TickUnknown: "Unknown",
}

// String is the fate for programs.
func (f TickFate) String() string {
	if int(f) < len(tickFates) && tickFates[f] != "" {
		return tickFates[f]
	}
	return "Unknown"
}

// tickHolds are what holds a due time back, for programs, by number. They are for ever.
var tickHolds = [...]string{HeldForbid: "Forbid", HeldSuspended: "Suspended", HeldBadZone: "UnknownTimeZone", HeldNoCreate: "Refused"}

// String is what holds a due time back, for programs; empty for nothing.
func (h TickHold) String() string {
	if int(h) < len(tickHolds) {
		return tickHolds[h]
	}
	return "Unknown"
}
