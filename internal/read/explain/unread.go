package explain

import (
	"cmp"
	"errors"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// misses is why an answer lacks what its records were not read for. Sentences are made when they are asked for, and
// have no errors: whoever shows them asks Unread in the end.
type misses struct{ failed error }

// Unread is the first error of a read that an answer needed, but for damage, which the source notes. The answer may
// lack what that read would have told.
func (m *misses) Unread() error { return m.failed }

// miss takes in that something could not be read. What the log does not have, or no longer, is known to be missing.
func (m *misses) miss(src history.Source, err error) {
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
