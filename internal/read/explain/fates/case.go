package fates

import (
	"github.com/jobledger/jobledger/internal/read/duetimes"
)

// IsDue reports whether entry e is a due time (or a range of them). Otherwise it is a Job that a user created or asked
// for.
func IsDue(e *duetimes.Entry) bool {
	return !e.Asked()
}
