package joblist

import (
	"github.com/jobledger/jobledger/store"
)

// unlisted holds rows of a file that its list does not cover.
type unlisted struct {
	from, through store.Head // head of the list, and head of the fold: the end of its file
	alone         bool       // the rows cover the whole file: there is no list, or it cannot continue

	rows  []row
	crons []cronRow
}

// keep is what a page keeps for the next page.
type keep struct {
	on       bool      // Config.Keep
	unlisted *unlisted // rows of one file; nil for none
}

// unlisted folds the records that the list of a file does not cover. The returned list has the other rows; it is nil if
// the fold has all. If the log did not grow, the next page reuses this fold. A fold that met damage is not kept, since
// each page must name the damage.
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
