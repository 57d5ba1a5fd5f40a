package joblist

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// Checked is the result of Check: how many rows of the lists are right, and which lists are wrong or not used.
type Checked struct {
	Rows int // number of rows that match the records
	// Wrong has an error for each list with a row that does not match the records. It names the first such row. A buggy
	// program or an intruder wrote such a list, and readers show its wrong Jobs.
	Wrong []error
	// Notes says which lists are not used or could not be compared, and why. Such a list costs readers only time.
	Notes []string
}

// Check compares each list (the .jobs index file of one log file) with what the records of the log file say. If some
// records of a Job are pruned (deleted) or damaged, it compares only the Job's name, state and last record, because the
// list knows more than the remaining records.
func Check(ctx context.Context, c Config) (checked Checked, err error) {
	files, err := c.files()
	if err != nil {
		return checked, err
	}
	m := newMerge(ctx, &c, files)
	defer m.close()
	for _, f := range files {
		l, err := openList(c.Dir, c.Log.Identity(), f, c.Log)
		if l == nil && err == nil {
			continue
		}
		path := listPath(c.Dir, f.First)
		if err == nil {
			err = errors.Join(l.rows.check(), l.streams.check(), l.crons.check())
		}
		if err != nil {
			l.close()
			m.forget(f)
			checked.Notes = append(checked.Notes, fmt.Sprintf("%s: the list of Jobs is not used: %v", path, err))
			continue
		}
		rows, err := m.compare(f, l)
		l.close()
		var wrong *rowError
		switch {
		// The checksums are right, but a row is wrong: a program or a person wrote it so.
		case errors.As(err, &wrong), errors.Is(err, errMalformed):
			m.forget(f)
			checked.Wrong = append(checked.Wrong, fmt.Errorf("%s: %w; remove it: it is made again", path, err))
		case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrPruned), events.OtherReader(err):
			checked.Notes = append(checked.Notes, fmt.Sprintf("%s: the list of Jobs was not compared with the records: %v", path, err))
		case err != nil:
			return checked, err
		default:
			checked.Rows += rows
		}
	}
	return checked, nil
}

// rowError is the error for a row that differs from the records. says has the difference.
type rowError struct{ says string }

func (e *rowError) Error() string { return e.says }

// compare compares all tables of list l with the records of its file f, up to the last record that the list covers. It
// returns how many rows match the records, or a rowError for the first difference.
func (m *merge) compare(f store.File, l *list) (rows int, err error) {
	p := newPart(m.config.Log, f, nil, m.complete)
	if err := p.advance(m.ctx, l.through.Sequence); err != nil {
		return 0, err
	}
	c := &comparison{merge: m, part: p, list: l, states: len(l.controller) > 0 && l.foldVersion == projector.FoldVersion}
	for _, step := range []func() error{c.controller, c.rows, c.streams, c.crons} {
		if err := step(); err != nil {
			return 0, err
		}
	}
	return c.n, nil
}

// comparison compares one list (the .jobs index file of one log file) with what the records of that log file say. Its
// methods return a rowError for the first difference.
type comparison struct {
	merge *merge // gives the context and the log
	part  *part  // the Jobs and CronJobs, made from the records
	list  *list
	// states says whether to compare the states of active Jobs and CronJobs, too. It is false if the list has none (as
	// that of a finished log file), or has them in the format of another version of this program.
	states bool
	n      int // number of rows found right so far
}

func (c *comparison) controller() error {
	if c.states && string(c.list.controller) != string(c.part.fold.World().ControllerFacts()) {
		return &rowError{"the controller's state in it is not what the records give"}
	}
	return nil
}

// rows compares the list's rows of Jobs with those that the records give. It returns a rowError for the first
// difference.
func (c *comparison) rows() error {
	fresh := c.part.rows()
	byUID := make(map[string]*row, len(fresh))
	for i := range fresh {
		byUID[fresh[i].UID] = &fresh[i]
	}
	for it, err := range c.list.rows.all {
		if err != nil {
			return err
		}
		if len(it.key) != 8 {
			return &rowError{fmt.Sprintf("its key %x is malformed", it.key)}
		}
		key := events.Sequence(binary.BigEndian.Uint64(it.key))
		r, err := decodeRow(key, it.content)
		if err != nil {
			return &rowError{fmt.Sprintf("its row %d is malformed", key)}
		}
		s, err := r.summary()
		if err != nil {
			return &rowError{fmt.Sprintf("its row %d is malformed", key)}
		}
		own := byUID[s.UID]
		if own == nil {
			return &rowError{fmt.Sprintf("it has a row of Job %s/%s, but the file has no record of it", s.Namespace, s.Name)}
		}
		delete(byUID, s.UID)
		if own.key == key && string(own.encode()) == string(it.content) {
			c.n++
			continue
		}
		if c.cut(events.JobStream(types.UID(s.UID))) && sameEnd(&own.Summary, &s) {
			continue
		}
		return &rowError{fmt.Sprintf("its row of Job %s/%s is not what the records give: %s there, %s by the records", s.Namespace, s.Name, s.State, own.State)}
	}
	for _, own := range fresh {
		if byUID[own.UID] != nil {
			return &rowError{fmt.Sprintf("it has no row of Job %s/%s, but the file has records of it", own.Namespace, own.Name)}
		}
	}
	return nil
}

// sameEnd reports whether two summaries of a Job agree: own from the records, listed from the list. Some records are
// pruned or damaged, so own may lack the Job's name, and how the Job ended: these need not agree then.
func sameEnd(own, listed *history.Summary) bool {
	over := listed.State == history.StateComplete || listed.State == history.StateFailed
	switch {
	case own.Last != listed.Last || own.Namespace != "" && (own.Namespace != listed.Namespace || own.Name != listed.Name):
		return false
	case own.State == history.StateUnseen, own.State == history.StateDeleted, own.State == history.StateFinished && over:
		return true
	}
	return own.State == listed.State && own.Gone == listed.Gone
}

// cut reports whether the list knows more about stream s (one Job or CronJob) than the records do: the first ones are
// pruned (deleted), or a later record of the stream or of the controller cannot be read.
func (c *comparison) cut(s events.Stream) bool {
	first := events.Sequence(0)
	for r, err := range c.records(s, 0) {
		if err != nil || first == 0 && r.Previous != 0 {
			return true
		}
		first = cmp.Or(first, r.Sequence)
	}
	for _, err := range c.records(events.Controller, first) {
		if err != nil {
			return true
		}
	}
	return first == 0
}

// records returns the records of stream s from sequence from on, up to the last one that the list covers.
func (c *comparison) records(s events.Stream, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range c.merge.config.Log.ReadStream(c.merge.ctx, s, from, store.Forward) {
			if err == nil && r.Sequence > c.list.through.Sequence || !yield(r, err) {
				return
			}
		}
	}
}

// streams compares the list's table of Jobs by UID with the records: the keys of the rows and, if c.states is set, the
// states of active Jobs.
func (c *comparison) streams() error {
	keys := map[string]string{}
	err := c.part.mergeStreams(c.part.rows(), c.states, func(key, content []byte) error {
		keys[string(key)] = string(content)
		return nil
	})
	if err != nil {
		return err
	}
	for it, err := range c.list.streams.all {
		if err != nil {
			return err
		}
		own, ok := keys[string(it.key)]
		if !ok {
			return &rowError{fmt.Sprintf("it has Job %s, but the file has no record of it", it.key)}
		}
		delete(keys, string(it.key))
		if own != string(it.content) && !c.cut(events.JobStream(types.UID(it.key))) {
			return &rowError{fmt.Sprintf("what it keeps of Job %s is not what the records give", it.key)}
		}
	}
	if len(keys) > 0 {
		return &rowError{fmt.Sprintf("the file has records of %d Jobs that it lacks", len(keys))}
	}
	return nil
}

// crons compares the list's rows of CronJobs with those that the records give.
func (c *comparison) crons() error {
	all := map[string][]byte{}
	err := c.part.mergeCrons(c.states, func(key, content []byte) error {
		all[string(key)] = slices.Clone(content)
		return nil
	})
	if err != nil {
		return err
	}
	for it, err := range c.list.crons.all {
		if err != nil {
			return err
		}
		own, ok := all[string(it.key)]
		if !ok {
			return &rowError{fmt.Sprintf("it has CronJob %s, but the file has no record of it", it.key)}
		}
		delete(all, string(it.key))
		if c.n++; string(own) != string(it.content) && !c.cut(events.CronJobStream(types.UID(it.key))) {
			return &rowError{fmt.Sprintf("its row of CronJob %s is not what the records give", it.key)}
		}
	}
	if len(all) > 0 {
		return &rowError{fmt.Sprintf("the file has records of %d CronJobs that it lacks", len(all))}
	}
	return nil
}
