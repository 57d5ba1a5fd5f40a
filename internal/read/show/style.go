package show

import "github.com/jobledger/jobledger/events"

// StyleOf returns the emphasis with which a record is written in a list: strong, trouble or plain.
func StyleOf(r *events.Record) Style {
	switch f := r.Facts.(type) {
	case *events.Decision:
		return Strong
	case *events.CommandEnded:
		if f.Ending == events.Refused || f.Ending == events.OutcomeUnknown {
			return Trouble
		}
	case *events.PodSeen:
		if f.Phase == events.PodFailed {
			return Trouble
		}
	}
	return Plain
}
