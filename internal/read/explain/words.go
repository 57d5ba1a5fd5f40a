package explain

import (
	"cmp"
	"time"

	"github.com/jobledger/jobledger/events"
)

func Seconds(n int64) time.Duration { return time.Duration(min(n, 1<<31)) * time.Second }

// ByManager returns the field manager of an edit in brackets: " (field manager NAME)". It is empty if unknown.
func ByManager(e *events.Edit) string {
	if name := ManagerOf(e); name != "" {
		return " (" + name + ")"
	}
	return ""
}

// ByWhomever is ByManager, except that it says so if the field manager is unknown.
func ByWhomever(e *events.Edit) string { return cmp.Or(ByManager(e), " ("+ByWhom+")") }

func ManagerOf(e *events.Edit) string {
	if e == nil || e.Manager == "" {
		return ""
	}
	return "field manager " + e.Manager
}

// Phrases for an act of which no record names the user. An answer has each of them once.
const (
	WhichClient = "; which one is unknown" // follows "by an API client"
	ByWhom      = "by whom is unknown"     // follows an act without a subject
)

func Was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// UnknownManager is the text in place of a field manager that no record names.
const UnknownManager = "an unknown field manager"
