package fates

import (
	"github.com/jobledger/jobledger/internal/read/duetimes"
)

// IsDue reports whether the entry is a due time, and not a Job that a user created or asked for.
func IsDue(e *duetimes.Entry) bool {
	return !e.Asked()
}
