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

// Config says what is listed. Log is required.
type Config struct {
	Log store.Reader
	// Files are those of the log, oldest first; nil for a log that has none.
	Files func() ([]store.File, error)
	// Dir is where the lists are; empty for none.
	Dir string
	// Every is how many records the list of the newest file may be behind, so many are folded for a page at most; 32,768
	// when 0.
	Every int
	// Keep says that what is folded for a page is kept in memory for the next one: for a reader of a log that does not go
	// on.
	Keep bool
}

func (c *Config) files() ([]store.File, error) {
	if c.Files != nil {
		return c.Files()
	}
	return []store.File{{First: 1, End: c.Log.Head()}}, nil
}

// Lists gives the Jobs of a log, as history.Lists says. Make it with New.
type Lists struct {
	config Config
	mu     sync.Mutex // one page at a time: what is folded for it is memory
	keep   keep
}

var _ history.Lists = (*Lists)(nil)

// New makes the Lists of a log.
func New(c Config) *Lists { return &Lists{config: c, keep: keep{on: c.Keep}} }

// wanted reports whether a row is one of those that a query wants, as far as the row tells without being read to its
// end.
func wanted(q *history.ListQuery, r *stored) bool {
	return (q.Namespace == "" || string(r.namespace) == q.Namespace) && r.last >= q.Since &&
		(len(q.States) == 0 || slices.ContainsFunc(q.States, func(s history.State) bool { return string(s) == string(r.state) }))
}

// Page gives the Jobs that a query wants. With an error that is ErrCorrupt it gives those of the files that can be
// read.
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

// job is the next one that a query wants, with the key of its row; ok is false behind the last.
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

// distrust folds all files whose lists were opened, from the row with that key on: a list that has it is malformed,
// though its checksums are right.
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

// merge takes rows from the lists of all files, the newest first. Of a Job that several files know the newest row
// counts. A file is opened when the rows have come to where it may have some.
type merge struct {
	ctx    context.Context
	log    store.Reader // whose damage is noted
	config *Config
	files  []store.File
	next   int // the file that is opened next; -1 when all are
	since  events.Sequence
	before events.Sequence

	first    events.Sequence // the first that is kept of a log that is pruned; 0 of one that is not
	after    *history.PastJob
	past     []row // Jobs that began before first, the newest last
	gathered bool

	sources []*source // of the newest file first
	open    map[events.Sequence]*list
	damage  store.Damage // that was met
	keep    *keep
}

// newMerge takes rows from all files. Whatever damage it meets in the log is noted: a page is what can be read beside
// that.
func newMerge(ctx context.Context, config *Config, files []store.File) *merge {
	m := &merge{ctx: ctx, config: config, files: files, next: len(files) - 1, keep: &keep{}}
	m.log = store.Noting(config.Log, &m.damage)
	if len(files) > 0 && files[0].First > 1 {
		m.first = files[0].First
	}
	return m
}

// unread is why a page may lack something, beside an error: the damage that was met.
func (m *merge) unread(err error) error {
	return errors.Join(append([]error{err}, m.damage.Met()...)...)
}

// beside reports whether an error says that the log is damaged: then the page goes on without what could not be read,
// and names that.
func (m *merge) beside(err error) bool {
	m.damage.Note(err)
	return errors.Is(err, store.ErrCorrupt)
}

func (m *merge) close() {
	for _, l := range m.open {
		l.close()
	}
}

// row is the next one; ok is false behind the last.
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

// openNext opens the next older file.
func (m *merge) openNext() error {
	f := m.files[m.next]
	m.next--
	if f.End.Sequence != 0 && (f.End.Sequence < m.since || f.End.Sequence < f.First) {
		return nil // its rows are older, or there are none
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

// begin adds a source, from the last row before a key on.
func (m *merge) begin(s *source, before events.Sequence) error {
	m.sources = append(m.sources, s)
	if err := s.seek(before); err != nil {
		return m.replace(s, before)
	}
	return nil
}

// fold folds what the list of a file does not know. Where the file is damaged it ends, which is said with the page.
func (m *merge) fold(f store.File, l *list) (*part, error) {
	through := f.End.Sequence
	if through == 0 { // where the file ends cannot be read
		through = m.endOf(f)
	}
	for {
		p := newPart(m.log, f, l, m.complete)
		err := p.advance(m.ctx, through)
		switch {
		case errors.Is(err, errMalformed) && l != nil:
			m.open[f.First], l = nil, nil // all of the file, then
			continue
		case m.beside(err):
			err = nil
		}
		return p, err
	}
}

// replace folds a file whose list turned out to be damaged.
func (m *merge) replace(s *source, before events.Sequence) error {
	m.open[s.file.First] = nil
	p, err := m.fold(s.file, nil)
	if err != nil {
		return err
	}
	*s = source{file: s.file, fresh: p.rows()}
	return s.seek(before)
}

// endOf is the last record that a file may hold.
func (m *merge) endOf(f store.File) events.Sequence {
	for _, other := range m.files {
		if other.First > f.First {
			return other.First - 1
		}
	}
	return m.config.Log.Head().Sequence
}

// list opens the list of a file, once; nil when there is none that can be used.
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
	l, err := openList(m.config.Dir, m.log.Identity(), f, m.log)
	if err != nil {
		l = nil // it is derived: the records are read instead
	}
	m.open[f.First] = l
	return l
}

// complete is the list of the file that holds a record, if it knows all of the file.
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

// source is rows in descending order: those of a list, or those that were just folded.
type source struct {
	file  store.File
	list  *list
	block []item    // what is left of the block that was read last
	next  int       // the block that is read next, downwards
	read  [2][]byte // the blocks that were read last: the row that was taken last may be of the one before
	items []item    // of the block
	fresh []row     // what is left of those that were folded

	row stored
	ok  bool
}

// seek goes to the last row before that key.
func (s *source) seek(before events.Sequence) error {
	if s.list == nil {
		n, _ := slices.BinarySearchFunc(s.fresh, before, func(r row, key events.Sequence) int { return cmp.Compare(r.key, key) })
		s.fresh = s.fresh[:n]
		return s.step()
	}
	s.next = s.list.rows.before(keyBytes(before))
	for {
		if err := s.step(); err != nil || !s.ok || s.row.key < before {
			return err
		}
	}
}

// step goes to the next row; ok is false behind the last.
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
