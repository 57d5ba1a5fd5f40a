package explain

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

func Seconds(n int64) time.Duration { return time.Duration(min(n, 1<<31)) * time.Second }

// ByManager returns " (field manager NAME)" of an edit; empty if unknown.
func ByManager(e *events.Edit) string {
	if name := ManagerOf(e); name != "" {
		return " (" + name + ")"
	}
	return ""
}

func ManagerOf(e *events.Edit) string {
	if e == nil || e.Manager == "" {
		return ""
	}
	return "field manager " + e.Manager
}

// WhichClient follows a statement that an API client deleted something: no record names the user of a request.
const WhichClient = "; which one is unknown"

func Was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// UnknownManager stands for an unrecorded field manager.
const UnknownManager = "an unknown field manager"
