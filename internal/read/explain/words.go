package explain

import (
	"cmp"
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

// ByWhomever is ByManager, which says so if it is unknown.
func ByWhomever(e *events.Edit) string { return cmp.Or(ByManager(e), " ("+ByWhom+")") }

func ManagerOf(e *events.Edit) string {
	if e == nil || e.Manager == "" {
		return ""
	}
	return "field manager " + e.Manager
}

// Words for a deed of which no record names the user. An answer has them once.
const (
	WhichClient = "; which one is unknown" // follows "by an API client"
	ByWhom      = "by whom is unknown"     // follows a deed without a doer
)

func Was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// UnknownManager stands for an unrecorded field manager.
const UnknownManager = "an unknown field manager"
