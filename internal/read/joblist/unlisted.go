package joblist

import (
	"github.com/jobledger/jobledger/store"
)

// unlisted has the rows of one file that its list does not cover.
type unlisted struct {
	from, through store.Head // end of the list, and end of the file
	alone         bool       // the rows are of the whole file: it has no list from which a fold can continue

	rows  []row
	crons []cronRow
}

// keep is what a page stores in memory for the next page.
type keep struct {
	on       bool      // value of Config.Keep
	unlisted *unlisted // result of the method unlisted for one file; nil for none
}

// unlisted folds the records of a file that its list does not cover. It also returns the list, for the other rows, or
// nil if the fold covers the whole file. If the log has not grown, the next page uses this fold again. A fold that met
// damage is not stored, because each page must name the damage.
func (m *merge) unlisted(f store.File, l *list) (*unlisted, *list, error) {
	u := &unlisted{through: f.End}
	if l != nil {
		u.from = l.through
	}
	if k := m.keep.unlisted; k != nil && k.from == u.from && k.through == u.through {
		if k.alone {
			l = nil
		}
		return k, l, nil
	}
	met := len(m.damage.Met())
	p, err := m.fold(f, l)
	if err != nil {
		return nil, nil, err
	}
	u.rows, u.crons, u.alone = p.rows(), p.cronRows(), p.base == nil
	if m.keep.on && len(m.damage.Met()) == met && p.through == f.End.Sequence && p.through != 0 {
		m.keep.unlisted = u
	}
	return u, p.base, nil
}
