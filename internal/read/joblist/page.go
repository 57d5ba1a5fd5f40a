package joblist

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sort"
	"sync"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// Config configures Lists and Keeper. Log is required.
type Config struct {
	Log store.Reader
	// Files returns the files of the log, oldest first. It is nil for a log that is not stored in files.
	Files func() ([]store.File, error)
	// Dir is the directory with the lists; empty for none.
	Dir string
	// Every is how many records the list of the newest file may be behind, which a page must then fold. 0 means 32,768.
	Every int
	// Keep stores in memory what a page folds, for use by the next page. Set it for a log that does not grow any more.
	Keep bool
}

func (c *Config) files() ([]store.File, error) {
	if c.Files != nil {
		return c.Files()
	}
	return []store.File{{First: 1, End: c.Log.Head()}}, nil
}

// Lists implements history.Lists. Create it with New.
type Lists struct {
	config Config
	mu     sync.Mutex // for one page at a time, to limit the memory for folds
	keep   keep
}

var _ history.Lists = (*Lists)(nil)

// New returns the Lists of the log in c.
func New(c Config) *Lists { return &Lists{config: c, keep: keep{on: c.Keep}} }

// wanted is a quick test whether a query may select a row: it uses only fields that are decoded without the whole row.
func wanted(q *history.ListQuery, r *stored) bool {
	return (q.Namespace == "" || string(r.namespace) == q.Namespace) && r.last >= q.Since &&
		(len(q.States) == 0 || slices.ContainsFunc(q.States, func(s history.State) bool { return string(s) == string(r.state) }))
}

// Page returns the Jobs that a query selects. If the error is store.ErrCorrupt, Page also returns those in the files
// that can be read.
func (l *Lists) Page(ctx context.Context, q history.ListQuery) (page history.ListPage, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	files, err := l.config.files()
	if err != nil {
		return page, err
	}
	m := newMerge(ctx, &l.config, files)
	m.keep = &l.keep
	m.since, m.before, m.after = q.Since, cmp.Or(q.Before, ^events.Sequence(0)), q.Past
	if q.Past != nil {
		m.before = m.first
	}
	defer m.close()
	page.Jobs = []history.Summary{}
	if q.UID != "" {
		err := m.byUID(&q, &page)
		return page, m.unread(err)
	}
	for {
		s, key, ok, err := m.job(&q)
		if err != nil || !ok {
			return page, m.unread(err)
		}
		if key < m.first {
			if err := m.count(&s); err != nil {
				return page, m.unread(err)
			}
		}
		if page.Jobs = append(page.Jobs, s); len(page.Jobs) != q.Limit {
			continue
		}
		_, _, more, err := m.job(&q)
		switch {
		case more && key < m.first:
			page.Past = pastOf(&s)
		case more:
			page.Next = key
		}
		return page, m.unread(err)
	}
}

// job returns the next Job that a query selects, and the key of its row. ok is false after the last one.
func (m *merge) job(q *history.ListQuery) (s history.Summary, key events.Sequence, ok bool, err error) {
	for {
		r, ok, err := m.row()
		if err != nil || !ok {
			return s, 0, false, err
		}
		if !wanted(q, &r) {
			continue
		}
		if s, err = r.summary(); err != nil {
			if err := m.distrust(r.key); err != nil {
				return s, 0, false, err
			}
			continue
		}
		if q.Wants(&s) {
			return s, r.key, true, nil
		}
	}
}

// distrust replaces all open lists by folds of their files, from the row with the key on. It is called if this row is
// malformed in spite of a correct checksum, because it is not known which list has the row.
func (m *merge) distrust(key events.Sequence) error {
	for _, s := range m.sources {
		if s.list == nil {
			continue
		}
		if err := m.replace(s, key+1); err != nil {
			return err
		}
	}
	return nil
}

// merge yields the rows of all files, the newest first. If a Job has rows in several files, it yields the row of the
// newest file. It opens a file only when it comes to rows that may be in the file.
type merge struct {
	ctx    context.Context
	log    store.Reader // collects damage in merge.damage
	config *Config
	files  []store.File
	next   int // index of the file to open next; -1 if all are open
	since  events.Sequence
	before events.Sequence

	first    events.Sequence // first record of a pruned log; 0 if nothing is pruned
	after    *history.PastJob
	past     []row // Jobs whose first record is pruned, the newest last
	gathered bool

	sources []*source // the newest file first
	open    map[events.Sequence]*list
	damage  store.Damage // damage of the log met so far
	keep    *keep
}

// newMerge returns a merge of the rows of all files. It continues past damage of the log, and notes it.
func newMerge(ctx context.Context, config *Config, files []store.File) *merge {
	m := &merge{ctx: ctx, config: config, files: files, next: len(files) - 1, keep: &keep{}}
	m.log = store.Noting(config.Log, &m.damage)
	if len(files) > 0 && files[0].First > 1 {
		m.first = files[0].First
	}
	return m
}

// unread joins err with the damage that was met, which says why the page may be incomplete.
func (m *merge) unread(err error) error {
	return errors.Join(append([]error{err}, m.damage.Met()...)...)
}

// beside reports whether err is damage of the log, and notes it. The page is then made without the unreadable records,
// and its error names the damage.
func (m *merge) beside(err error) bool {
	m.damage.Note(err)
	return errors.Is(err, store.ErrCorrupt)
}

func (m *merge) close() {
	for _, l := range m.open {
		l.close()
	}
}

// row returns the next row; ok is false after the last one.
func (m *merge) row() (r stored, ok bool, err error) {
	for {
		if err := m.ctx.Err(); err != nil {
			return r, false, err
		}
		m.sources = slices.DeleteFunc(m.sources, func(s *source) bool { return !s.ok })
		var top *source
		for _, s := range m.sources {
			if top == nil || s.row.key > top.row.key {
				top = s
			}
		}
		if m.next >= 0 && (top == nil || top.row.key <= m.files[m.next].End.Sequence || m.files[m.next].End.Sequence == 0) {
			if err := m.openNext(); err != nil {
				return r, false, err
			}
			continue
		}
		if m.first > 0 && (top == nil || top.row.key < m.first) {
			return m.pastRow()
		}
		if top == nil {
			return r, false, nil
		}
		r = top.row
		for _, s := range m.sources {
			if s.row.key != r.key {
				continue
			}
			if err := s.step(); err != nil {
				if err := m.replace(s, r.key); err != nil {
					return r, false, err
				}
			}
		}
		return r, true, nil
	}
}

// openNext opens the next older file of the log.
func (m *merge) openNext() error {
	f := m.files[m.next]
	m.next--
	if f.End.Sequence != 0 && (f.End.Sequence < m.since || f.End.Sequence < f.First) {
		return nil // the file is too old for the query, or it is empty
	}
	l := m.list(f)
	if l == nil || l.through.Sequence != f.End.Sequence {
		u, base, err := m.unlisted(f, l)
		if err != nil {
			return err
		}
		if err := m.begin(&source{file: f, fresh: u.rows}, m.before); err != nil {
			return err
		}
		l = base
	}
	if l == nil {
		return nil
	}
	return m.begin(&source{file: f, list: l}, m.before)
}

// begin adds a source of rows, at its last row before a key.
func (m *merge) begin(s *source, before events.Sequence) error {
	m.sources = append(m.sources, s)
	if err := s.seek(before); err != nil {
		return m.replace(s, before)
	}
	return nil
}

// fold folds those records of a file that its list l does not cover. Damage ends the fold, and is noted for the page.
func (m *merge) fold(f store.File, l *list) (*part, error) {
	through := f.End.Sequence
	if through == 0 { // damage hides the end of the file
		through = m.endOf(f)
	}
	for {
		p := newPart(m.log, f, l, m.complete)
		err := p.advance(m.ctx, through)
		switch {
		case errors.Is(err, errMalformed) && l != nil:
			m.forget(f) // fold the whole file instead
			l = nil
			continue
		case m.beside(err):
			err = nil
		}
		return p, err
	}
}

// replace makes a fold of a file take the place of its damaged list.
func (m *merge) replace(s *source, before events.Sequence) error {
	m.forget(s.file)
	p, err := m.fold(s.file, nil)
	if err != nil {
		return err
	}
	*s = source{file: s.file, fresh: p.rows()}
	return s.seek(before)
}

// endOf returns the last sequence that can be in a file.
func (m *merge) endOf(f store.File) events.Sequence {
	for _, other := range m.files {
		if other.First > f.First {
			return other.First - 1
		}
	}
	return m.config.Log.Head().Sequence
}

// list returns the list of a file, which it opens at the first call. It returns nil if no list can be used.
func (m *merge) list(f store.File) *list {
	if m.config.Dir == "" {
		return nil
	}
	if l, ok := m.open[f.First]; ok {
		return l
	}
	if m.open == nil {
		m.open = map[events.Sequence]*list{}
	}
	l, _ := openList(m.config.Dir, m.log.Identity(), f, m.log) // without a list, the records are read
	m.open[f.First] = l
	return l
}

// forget closes the list of a file; it is not used again.
func (m *merge) forget(f store.File) {
	if m.open == nil {
		m.open = map[events.Sequence]*list{}
	}
	m.open[f.First].close()
	m.open[f.First] = nil
}

// complete returns the list of the file that holds record at, if the list covers the file to its end; otherwise nil.
func (m *merge) complete(at events.Sequence) (*list, error) {
	i := sort.Search(len(m.files), func(i int) bool { return m.files[i].First > at }) - 1
	if i < 0 {
		return nil, nil
	}
	if l := m.list(m.files[i]); l != nil && l.through.Sequence == m.files[i].End.Sequence {
		return l, nil
	}
	return nil, nil
}

// source yields the rows of one file, the newest first. They come from a list or from a fold.
type source struct {
	file  store.File
	list  *list
	block []item    // entries of the current block that are still to come
	next  int       // index of the block to read next; it counts down
	read  [2][]byte // buffers of the last two blocks: row may still use the older one
	items []item    // all entries of the current block
	fresh []row     // rows of a fold that are still to come

	row stored
	ok  bool
}

// seek moves to the last row with a key less than before.
func (s *source) seek(before events.Sequence) error {
	if s.list == nil {
		n, _ := slices.BinarySearchFunc(s.fresh, before, func(r row, key events.Sequence) int { return cmp.Compare(r.key, key) })
		s.fresh = s.fresh[:n]
		return s.step()
	}
	s.next = s.list.rows.before(keyBytes(before))
	for {
		if err := s.step(); !s.ok || s.row.key < before { // after an error, ok is false
			return err
		}
	}
}

// step moves to the next row. After the last one, s.ok is false.
func (s *source) step() (err error) {
	s.ok = false
	if s.list == nil {
		if n := len(s.fresh); n > 0 {
			s.row, s.ok, s.fresh = freshRow(&s.fresh[n-1]), true, s.fresh[:n-1]
		}
		return nil
	}
	for len(s.block) == 0 {
		if s.next < 0 {
			return nil
		}
		block, err := s.list.rows.read(s.next, s.read[1])
		if err != nil {
			return err
		}
		s.read[0], s.read[1] = block, s.read[0]
		if s.items, err = split(block, s.items[:0]); err != nil {
			return err
		}
		s.block = s.items
		s.next--
	}
	it := s.block[len(s.block)-1]
	s.block = s.block[:len(s.block)-1]
	if len(it.key) != 8 {
		return errMalformed
	}
	s.row, err = decodeRow(events.Sequence(binary.BigEndian.Uint64(it.key)), it.content)
	s.ok = err == nil
	return err
}
