package joblist

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"sort"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// byUID adds to a page the Jobs whose UID begins with q.UID, the newest first. In a list, the table streams is sorted
// by UID, so byUID reads only one or two blocks of each list.
func (m *merge) byUID(q *history.ListQuery, page *history.ListPage) error {
	// found is by UID. Files are read from the newest on, so each row is from the newest file that has the Job.
	found := map[string]row{}
	enough := func() bool { return q.Limit > 0 && len(page.Jobs) >= q.Limit }
	take := func(r row) {
		if _, known := found[r.UID]; !known && events.Sequence(r.Last) >= q.Since {
			if found[r.UID] = r; q.Wants(&r.Summary) {
				page.Jobs = append(page.Jobs, r.Summary)
			}
		}
	}
	for _, f := range slices.Backward(m.files) {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		if f.End.Sequence != 0 && f.End.Sequence < f.First {
			continue // the file is empty
		}
		if err := m.uidsOf(f, q.UID, take); err != nil {
			return err
		}
		if enough() {
			break
		}
	}
	for i := range page.Jobs {
		if r := found[page.Jobs[i].UID]; r.key < m.first {
			if err := errors.Join(m.asKept(&r), m.count(&r.Summary)); err != nil {
				return err
			}
			r.key, page.Jobs[i] = 0, r.Summary
			found[r.UID] = r
		}
	}
	slices.SortFunc(page.Jobs, func(a, b history.Summary) int {
		return cmp.Or(cmp.Compare(found[b.UID].key, found[a.UID].key), -comparePast(pastOf(&a), pastOf(&b)))
	})
	if enough() {
		page.Jobs = page.Jobs[:q.Limit]
	}
	return nil
}

// uidsOf calls take with each Job in log file f whose UID may have the prefix. take must check the UID: rows that come
// from records are not filtered.
func (m *merge) uidsOf(f store.File, prefix string, take func(row)) error {
	l := m.list(f)
	if l == nil || l.through.Sequence != f.End.Sequence {
		u, base, err := m.unlisted(f, l)
		if err != nil {
			return err
		}
		for _, r := range u.rows {
			take(r)
		}
		l = base
	}
	if l == nil {
		return nil
	}
	rows, err := l.jobsLike([]byte(prefix))
	if err != nil { // if the list cannot be read, read the records: the list is only a copy of what they say
		m.forget(f)
		p, err := m.fold(f, nil)
		if err != nil {
			return err
		}
		rows = p.rows()
	}
	for _, r := range rows {
		take(r)
	}
	return nil
}

// jobsLike returns the rows of the Jobs in the list whose UID begins with prefix.
func (l *list) jobsLike(prefix []byte) (rows []row, err error) {
	uids, err := l.streams.like(prefix)
	if err != nil {
		return nil, err
	}
	for _, uid := range uids {
		k, _, err := l.job(events.JobStream(types.UID(uid))) // always found, since the UID comes from the same table
		if err != nil {
			return nil, err
		}
		rows = append(rows, k.row)
	}
	return rows, nil
}

// like returns the keys in the table that begin with prefix.
func (t *table) like(prefix []byte) (keys []string, err error) {
	from := max(0, sort.Search(len(t.blocks), func(i int) bool { return bytes.Compare(t.blocks[i].first, prefix) > 0 })-1)
	for i := from; i < len(t.blocks); i++ {
		if first := t.blocks[i].first; i > from && !bytes.HasPrefix(first, prefix) {
			break
		}
		block, err := t.read(i, nil)
		if err != nil {
			return nil, err
		}
		items, err := split(block, nil)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			if bytes.HasPrefix(it.key, prefix) {
				keys = append(keys, string(it.key))
			}
		}
	}
	return keys, nil
}
