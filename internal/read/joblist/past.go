package joblist

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// A Job's key is its first record. Pruning (deleting old log files) removes the first records of active Jobs. Lists of
// different age then have different keys for such a Job: its first record, or the record before the first that was not
// pruned. Each such key is lower than every record of the log, and belongs to one Job. So these Jobs come last on a
// page. They are merged by UID, and show what the remaining records say, so that a page does not depend on which lists
// exist.

// pastRow returns the next row of the Jobs whose first record is pruned (deleted). ok is false after the last one.
func (m *merge) pastRow() (r stored, ok bool, err error) {
	if !m.gathered {
		if err := m.gather(); err != nil {
			return r, false, err
		}
	}
	n := len(m.past) - 1
	if n < 0 {
		return r, false, nil
	}
	r, m.past = freshRow(&m.past[n]), m.past[:n]
	return r, true, nil
}

// gather collects the rows that are left in all lists: they are of Jobs whose first record is pruned (deleted). If a
// Job is in several lists, the row of the newest list counts.
func (m *merge) gather() error {
	m.gathered = true
	known := map[string]bool{}
	for _, s := range m.sources { // from the newest file on, so the first row of each Job counts
		for s.ok {
			key := s.row.key
			summary, err := s.row.summary()
			if err == nil && !known[summary.UID] {
				known[summary.UID] = true
				m.past = append(m.past, row{key: key, Summary: summary})
			}
			if err == nil {
				err = s.step()
			}
			if err == nil {
				continue
			}
			// The UID in this row may be unreadable. So take this row and the ones after it from the records instead of
			// the list.
			if err := m.replace(s, m.first); err != nil {
				return err
			}
		}
	}
	for i := range m.past {
		if err := m.asKept(&m.past[i]); err != nil {
			return err
		}
	}
	slices.SortFunc(m.past, func(a, b row) int { return comparePast(pastOf(&a.Summary), pastOf(&b.Summary)) })
	if m.after != nil {
		n, _ := slices.BinarySearchFunc(m.past, m.after, func(r row, p *history.PastJob) int { return comparePast(pastOf(&r.Summary), p) })
		m.past = m.past[:n]
	}
	return nil
}

// pastOf returns the position of a Job among the Jobs whose first record is pruned (deleted). They are ordered by their
// creation; if the log does not tell it, by their end.
func pastOf(s *history.Summary) *history.PastJob {
	return &history.PastJob{Created: events.Time(cmp.Or(s.Created, s.Finished)), UID: s.UID}
}

func comparePast(a, b *history.PastJob) int {
	return cmp.Or(cmp.Compare(a.Created, b.Created), strings.Compare(a.UID, b.UID))
}

// asKept removes from row r what only pruned (deleted) records tell: the Job's first record, and how the Job ended if
// this was before the first record of the log.
func (m *merge) asKept(r *row) error {
	r.First = 0
	switch r.State {
	case history.StateComplete, history.StateFailed, history.StateDeleted, history.StateFinished, history.StateUnseen, history.StateUnmanaged:
	default:
		return nil // an active Job has a checkpoint in the log, so the log still tells its whole state
	}
	fold := history.NewFold()
	fold.Brief = true
	s := events.JobStream(types.UID(r.UID))
	for rec, err := range m.readable(s, 0) {
		if err != nil && !m.beside(err) {
			return err
		}
		if err != nil {
			return nil
		}
		if fold.Apply(&rec); fold.World().Collecting(s) {
			continue
		}
		break
	}
	a := fold.Account(s)
	if a == nil || fold.World().Job(s) != nil {
		return nil
	}
	for rec, err := range m.readable(s, a.Last+1) {
		if err != nil && !m.beside(err) {
			return err
		}
		if err != nil {
			break // a later record is damaged: show what the records before it say
		}
		fold.Apply(&rec)
	}
	if fold.World().Job(s) == nil && fold.Account(s).Projected() == nil {
		// The records left in the log do not tell the Job's state: show only what they tell. The caller then sets
		// Records (method count).
		r.Summary = history.SummaryOf(a)
	}
	return nil
}

// readable returns the records of stream s (one Job) from sequence from on. Its last error is for a record that only a
// newer program can read.
func (m *merge) readable(s events.Stream, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range m.log.ReadStream(m.ctx, s, from, store.Forward) {
			if err == nil {
				err = projector.Readable(&r)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// count sets s.Records to the number of the Job's records that are still in the log.
func (m *merge) count(s *history.Summary) error {
	s.Records = 0
	for _, err := range m.log.ReadStream(m.ctx, events.JobStream(types.UID(s.UID)), 0, store.Forward) {
		switch {
		case err == nil:
			s.Records++
		case !m.beside(err):
			return err
		}
	}
	return nil
}
