package explain

import (
	"cmp"
	"errors"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// Misses has the first failed read of an answer. Methods that make sentences return no errors: they call Miss, and the
// caller checks Unread at the end.
type Misses struct{ failed error }

// Unread returns the first failed read. If it is not nil, the answer may be incomplete. Damage of the log is not a
// failed read, because the source notes it.
func (m *Misses) Unread() error { return m.failed }

// Miss notes a failed read. It ignores damage of the log, and records that the log does not have.
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
