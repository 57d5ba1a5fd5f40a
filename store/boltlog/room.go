package boltlog

import (
	"fmt"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
)

// Space is allocated ahead of the writes: with fallocate, so that the file owns the blocks, and in steps of 4 MiB, so
// that calls are rare. bbolt would grow the file itself when a commit needs more. It never has to: a commit that fails
// for lack of space is the end of the log, while a turn that does not begin costs nothing.
const (
	allocateStep = 4 << 20
	// commitOverhead bounds what a commit writes in addition to its chunks: the pages on the path to the root, and
	// pages that open readers keep bbolt from reusing, for a few commits until the next reservation.
	commitOverhead = 256 << 10
)

// cost bounds the growth of the tail by an append of bytes bytes in stored form. Pages are at least half full, chunks
// have little overhead, and each commit rewrites the newest leaf.
func (t *tail) cost(bytes int64) int64 { return 5*bytes/2 + 3*t.recent.Load() + commitOverhead }

// reserve ensures that the file can grow by growth bytes, and allocates step bytes more if possible. It returns
// ErrNoRoom when there is no space.
func (t *tail) reserve(growth, step int64) error {
	need := t.high.Load() + growth
	if t.allocated >= need {
		return nil
	}
	err := t.extend(need + step)
	if disk.NoSpace(err) {
		err = t.extend(need)
	}
	if disk.NoSpace(err) {
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

// Room implements store.Log.
func (l *Log) Room(bytes int) error {
	l.mu.Lock()
	err := l.queue.Ended()
	waiting := l.queue.Waiting()
	l.mu.Unlock()
	if err != nil {
		return err
	}
	if o := &l.options; o.MaxBytes > 0 { // hold reserves the rest before the commit
		bytes = min(bytes, int(o.MaxBytes/aheadShare))
	}
	l.space.Lock()
	defer l.space.Unlock()
	if l.tail.first == l.nextFile {
		return l.tail.reserve(l.tail.cost(waiting+int64(bytes)), l.step())
	}
	// The next batch begins a file that the committer has not created yet. Create it now, so that space for it is
	// reserved.
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
