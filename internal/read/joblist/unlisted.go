package joblist

import (
	"github.com/jobledger/jobledger/store"
)

// unlisted has the rows of one log file that its list (.jobs index file) lacks, because their records are newer than
// the list.
type unlisted struct {
	from, through store.Head // last record that the list covers, and last record of the file
	alone         bool       // no list of the file can be continued, so rows has those of the whole file

	rows  []row
	crons []cronRow
}

// keep is what one page leaves in memory for the next page.
type keep struct {
	on       bool      // value of Config.Keep
	unlisted *unlisted // rows that the method unlisted made for one file; nil for none
}

// unlisted returns the rows of file f that its list l lacks, made from the records after the list. It also returns the
// list, for the other rows; nil if the rows are of the whole file. If the log has not grown, the next page gets the
// same rows without reading. This is not so after damage, because each page must name the damage.
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
