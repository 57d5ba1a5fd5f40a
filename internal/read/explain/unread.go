package explain

import (
	"cmp"
	"errors"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// Misses keeps the first failed read of the log while an answer is made. Methods that make sentences return no errors:
// they call Miss, and the caller checks Unread at the end.
type Misses struct{ failed error }

// Unread returns the first failed read of the log. If it is not nil, the answer may be incomplete. Damage of the log
// does not count, because the source notes it for the user.
func (m *Misses) Unread() error { return m.failed }

// Miss notes err of a read of src as failed. It ignores damage of the log, and records that the log does not have.
func (m *Misses) Miss(src history.Source, err error) {
	if err == nil || src.Beside(err) {
		return
	}
	for _, gone := range []error{store.ErrPruned, history.ErrNoRecord, history.ErrNoJob, history.ErrNoCronJob} {
		if errors.Is(err, gone) {
			return
		}
	}
	m.failed = cmp.Or(m.failed, err)
}
