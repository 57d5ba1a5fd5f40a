package explain

import (
	"cmp"
	"time"

	"github.com/jobledger/jobledger/events"
)

func Seconds(n int64) time.Duration { return time.Duration(min(n, 1<<31)) * time.Second }

// ByManager returns the field manager that made an edit, in brackets: " (field manager NAME)". It is empty if unknown.
func ByManager(e *events.Edit) string {
	if name := ManagerOf(e); name != "" {
		return " (" + name + ")"
	}
	return ""
}

// ByWhomever returns the field manager that made an edit, in brackets; if it is unknown, " (by whom is unknown)".
func ByWhomever(e *events.Edit) string { return cmp.Or(ByManager(e), " ("+ByWhom+")") }

func ManagerOf(e *events.Edit) string {
	if e == nil || e.Manager == "" {
		return ""
	}
	return "field manager " + e.Manager
}

// Phrases for an act if no record names who did it. An answer has each of them only once.
const (
	WhichClient = "; which one is unknown" // follows "by an API client"
	ByWhom      = "by whom is unknown"     // follows an act for which no actor is named
)

func Was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// UnknownManager stands in a text for a field manager that no record names.
const UnknownManager = "an unknown field manager"
