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

// Config configures Lists (which reads) and Keeper (which writes). Log is required.
type Config struct {
	Log store.Reader
	// Files returns the files of the log, oldest first. It is nil for a log that is not stored in files.
	Files func() ([]store.File, error)
	// Dir is the directory with the lists, one .jobs index file for each log file; empty for none. Without it, a page
	// reads the records themselves.
	Dir string
	// Every is the number of new records after which the Keeper extends the list of the newest file. A page must read
	// the records that the list lacks. 0 means 32,768.
	Every int
	// Keep keeps in memory what a page has read from records, so that the next page need not read them again. Set it
	// only for a log that does not grow any more.
	Keep bool
}

func (c *Config) files() ([]store.File, error) {
	if c.Files != nil {
		return c.Files()
	}
	return []store.File{{First: 1, End: c.Log.Head()}}, nil
}

// Lists returns the Jobs and CronJobs of a log by page (it implements history.Lists), from the lists: one .jobs index
// file for each log file. Create it with New.
type Lists struct {
	config Config
	mu     sync.Mutex // held while a page is made: so only one page at a time needs memory for a fold
	keep   keep
}

var _ history.Lists = (*Lists)(nil)

// New returns the Lists of the log in c.
func New(c Config) *Lists { return &Lists{config: c, keep: keep{on: c.Keep}} }

// wanted reports whether query q may select row r. It is a quick test before the whole row is decoded: it uses only the
// namespace, the state and the newest record.
func wanted(q *history.ListQuery, r *stored) bool {
	return (q.Namespace == "" || string(r.namespace) == q.Namespace) && r.last >= q.Since &&
		(len(q.States) == 0 || slices.ContainsFunc(q.States, func(s history.State) bool { return string(s) == string(r.state) }))
}

// Page returns the Jobs that query q selects, the newest first. If files of the log are damaged, the error is
// store.ErrCorrupt, and the page has the Jobs of the readable files.
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

// job returns the next Job that query q selects, and its key: rows are ordered by the first record of the Job. ok is
// false after the last Job.
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

// distrust reads the records instead of all open lists, for the rows with this key and lower ones. It is called if a
// row is malformed although its checksum is right, because it is not known which of the lists has the row.
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

// merge yields the Jobs of a log as rows, the newest first. Each log file has rows: from its list (.jobs index file),
// or from its records. If a Job has rows in several files, merge yields the one of the newest file. It opens a file
// only when it needs the file's rows.
type merge struct {
	ctx    context.Context
	log    store.Reader // the log; damage that a read meets is added to damage
	config *Config
	files  []store.File
	next   int // index in files of the file to open next; -1 if all are open
	since  events.Sequence
	before events.Sequence

	first    events.Sequence // first record of the log if older ones are pruned (deleted); otherwise 0
	after    *history.PastJob
	past     []row // Jobs whose first record is pruned, the last to show first
	gathered bool

	sources []*source // rows of the opened files, the newest file first
	open    map[events.Sequence]*list
	damage  store.Damage // all damage of the log that was met so far
	keep    *keep
}

// newMerge returns a merge, which yields the rows of all files. It reads on after damage of the log, and notes the
// damage for the page's error.
func newMerge(ctx context.Context, config *Config, files []store.File) *merge {
	m := &merge{ctx: ctx, config: config, files: files, next: len(files) - 1, keep: &keep{}}
	m.log = store.Noting(config.Log, &m.damage)
	if len(files) > 0 && files[0].First > 1 {
		m.first = files[0].First
	}
	return m
}

// unread returns err together with all damage of the log that was met: it says why the page may be incomplete.
func (m *merge) unread(err error) error {
	return errors.Join(append([]error{err}, m.damage.Met()...)...)
}

// beside reports whether err is damage of the log, and notes it. The caller then makes the page without the unreadable
// records, and the page's error names the damage.
func (m *merge) beside(err error) bool {
	m.damage.Note(err)
	return errors.Is(err, store.ErrCorrupt)
}

func (m *merge) close() {
	for _, l := range m.open {
		l.close()
	}
}

// row returns the next row of the page, the newest first; ok is false after the last one.
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

// openNext adds the rows of the next older log file to the merge.
func (m *merge) openNext() error {
	f := m.files[m.next]
	m.next--
	if f.End.Sequence != 0 && (f.End.Sequence < m.since || f.End.Sequence < f.First) {
		return nil // the query wants only newer records, or the file is empty
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

// begin adds s, the rows of one log file, to the merge. It starts at the last row with a key lower than before.
func (m *merge) begin(s *source, before events.Sequence) error {
	m.sources = append(m.sources, s)
	if err := s.seek(before); err != nil {
		return m.replace(s, before)
	}
	return nil
}

// fold reads those records of file f that its list l does not cover. If l is nil, it reads the whole file. At damage it
// stops, and notes the damage for the page.
func (m *merge) fold(f store.File, l *list) (*part, error) {
	through := f.End.Sequence
	if through == 0 { // if damage hides the end of the file, take the largest sequence that it can have
		through = m.endOf(f)
	}
	for {
		p := newPart(m.log, f, l, m.complete)
		err := p.advance(m.ctx, through)
		switch {
		case errors.Is(err, errMalformed) && l != nil:
			m.forget(f) // the list is malformed: fold the whole file instead
			l = nil
			continue
		case m.beside(err):
			err = nil
		}
		return p, err
	}
}

// replace replaces the damaged list of source s by a fold of its whole file, and continues with the rows whose keys are
// lower than before.
func (m *merge) replace(s *source, before events.Sequence) error {
	m.forget(s.file)
	p, err := m.fold(s.file, nil)
	if err != nil {
		return err
	}
	*s = source{file: s.file, fresh: p.rows()}
	return s.seek(before)
}

// endOf returns the last sequence that can be in file f: the one before the next file, or the end of the log.
func (m *merge) endOf(f store.File) events.Sequence {
	for _, other := range m.files {
		if other.First > f.First {
			return other.First - 1
		}
	}
	return m.config.Log.Head().Sequence
}

// list returns the list (.jobs index file) of log file f. It opens each list once. It returns nil if there is none that
// can be used.
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
	// If it cannot be used, l is nil, and the caller reads the records instead.
	l, _ := openList(m.config.Dir, m.log.Identity(), f, m.log)
	m.open[f.First] = l
	return l
}

// forget closes the list of log file f, so that the merge does not use it again.
func (m *merge) forget(f store.File) {
	if m.open == nil {
		m.open = map[events.Sequence]*list{}
	}
	m.open[f.First].close()
	m.open[f.First] = nil
}

// complete returns the list of the log file that holds record at. It returns nil if that list does not cover its file
// to the end, or cannot be used.
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

// source yields the rows of one log file, the newest first. They come from the file's list (.jobs index file), or from
// its records if list is nil.
type source struct {
	file  store.File
	list  *list
	block []item    // entries of the current block that step has not returned yet
	next  int       // index of the block to read next; it counts down
	read  [2][]byte // buffers of the last two blocks: the row that was yielded last may still use the older one
	items []item    // all entries of the current block; block is the rest of them
	fresh []row     // rows made from records that were not yielded yet, the newest last

	row stored
	ok  bool
}

// seek moves to the last row with a key lower than before, and puts it into s.row. s.ok is false if there is none.
func (s *source) seek(before events.Sequence) error {
	if s.list == nil {
		n, _ := slices.BinarySearchFunc(s.fresh, before, func(r row, key events.Sequence) int { return cmp.Compare(r.key, key) })
		s.fresh = s.fresh[:n]
		return s.step()
	}
	s.next = s.list.rows.before(keyBytes(before))
	for {
		if err := s.step(); !s.ok || s.row.key < before { // after an error, ok is false, and the loop ends
			return err
		}
	}
}

// step moves to the next row, which it puts into s.row. After the last one, s.ok is false.
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
