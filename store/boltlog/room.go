package boltlog

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/jobledger/jobledger/store"
)

// Space is allocated ahead of the writes: fallocate, so that the blocks are the file's own, by steps, so that it is
// rarely called. bbolt grows its file itself when a commit needs more than there is; we see to it that there always is
// enough, because a commit that fails for space is the end of the log, and a turn that is not begun is not.
const (
	allocateStep = 4 << 20
	// commitOverhead bounds what a commit writes beside its chunks: the pages on the way to the root, and what readers
	// in the file keep it from reusing, for some commits until space is made sure of again.
	commitOverhead = 256 << 10
)

// cost bounds the growth of the tail by an append of that many bytes in stored form. Pages are at least half full,
// chunks have little overhead, and the newest leaf is rewritten.
func (t *tail) cost(bytes int64) int64 { return 5*bytes/2 + 3*t.recent.Load() + commitOverhead }

// reserve makes sure that the file can grow by that many bytes. Its error is ErrNoRoom when there is no space.
func (t *tail) reserve(growth, step int64) error {
	need := t.high.Load() + growth
	if t.allocated >= need {
		return nil
	}
	err := t.extend(need + step)
	if noSpace(err) {
		err = t.extend(need)
	}
	if noSpace(err) {
		return fmt.Errorf("hold %d bytes ahead in %s: %w: %w", growth, t.path, store.ErrNoRoom, err)
	}
	if err != nil {
		return fmt.Errorf("hold %d bytes ahead in %s: %w", growth, t.path, err)
	}
	return nil
}

func (t *tail) extend(to int64) error {
	const page = 64 << 10
	to = (to + page - 1) / page * page
	if err := t.effects.allocate(t.file, t.allocated, to); err != nil {
		return err
	}
	t.allocated = to
	return nil
}

func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// Room is described by store.Log.
func (l *Log) Room(bytes int) error {
	l.mu.Lock()
	err := l.queue.Ended()
	waiting := l.queue.Waiting()
	l.mu.Unlock()
	if err != nil {
		return err
	}
	if o := &l.options; o.MaxBytes > 0 { // more is made sure of before it is committed (hold)
		bytes = min(bytes, int(o.MaxBytes/aheadShare))
	}
	l.space.Lock()
	defer l.space.Unlock()
	if l.tail.first == l.nextFile {
		return l.tail.reserve(l.tail.cost(waiting+int64(bytes)), l.step())
	}
	// The next batch begins a file that the committer has not come to yet. Make it now, so that nothing is missing when
	// it does.
	if err := l.tail.reserve(l.tail.cost(waiting), l.step()); err != nil {
		return err
	}
	spare, err := l.spareTail()
	if err != nil {
		return err
	}
	return spare.reserve(spare.cost(waiting+int64(bytes)), l.step())
}

func (l *Log) step() int64 { return min(allocateStep, l.options.RotateBytes/4) }
