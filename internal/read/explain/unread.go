package explain

import (
	"cmp"
	"errors"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// Misses holds the first failed read of an answer. Methods that make sentences return no errors: the caller checks
// Unread after them.
type Misses struct{ failed error }

// Unread returns the first error of a read that an answer needed, except damage, which the source notes. With an error
// the answer may be incomplete.
func (m *Misses) Unread() error { return m.failed }

// Miss notes a failed read. It ignores damage, and records that the log does not have or no longer has.
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
