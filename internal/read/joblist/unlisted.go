package joblist

import (
	"github.com/jobledger/jobledger/store"
)

// unlisted is what the records of a file say that its list does not know.
type unlisted struct {
	from, through store.Head // of the list, and of the fold: the end of its file
	alone         bool       // the fold has all of the file: the list, if there is one, could not be gone on from

	rows  []row
	crons []cronRow
}

// keep is what a page keeps for the next one.
type keep struct {
	on       bool      // Config.Keep
	unlisted *unlisted // of one file; nil for none
}

// unlisted folds what the list of a file does not know. The list that is returned has the other rows; nil when the fold
// has all. The next page of a log that did not go on takes what this one folded. Where damage is met nothing is kept,
// as each page names it.
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
