package fates

import (
	"github.com/jobledger/jobledger/internal/read/duetimes"
)

// IsDue reports whether the entry is a due time, and not a run that a user made or requested.
func IsDue(e *duetimes.Entry) bool {
	return !e.Asked()
}
