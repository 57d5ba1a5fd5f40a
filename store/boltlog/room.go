package boltlog

import (
	"fmt"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
)

// Disk space is allocated before it is needed: with fallocate, so that the file owns the blocks, and in steps of 4 MiB,
// so that calls are rare. bbolt would extend the file itself when a commit needs more space, but never has to. This
// matters because a commit without space ends the log, while a turn that cannot begin does no harm.
const (
	allocateStep = 4 << 20
	// commitOverhead is an upper bound for what a commit writes in addition to its records. That is the pages on the
	// path to the root, and pages that bbolt cannot reuse while readers use them. It covers several commits, until
	// space is reserved again.
	commitOverhead = 256 << 10
)

// cost returns an upper bound for the growth of the file by an append of `bytes` bytes of encoded records. Pages are at
// least half full, chunks (stored groups of records) have little overhead, and each commit rewrites the newest leaf
// page.
func (t *tail) cost(bytes int64) int64 { return 5*bytes/2 + 3*t.recent.Load() + commitOverhead }

// reserve allocates disk space, so that the file can grow by `growth` bytes, and by `step` bytes more if the disk has
// them. It returns ErrNoRoom if there is no space for `growth`.
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

// Room implements store.Log: it reserves disk space for appends of `bytes` bytes, or returns ErrNoRoom.
func (l *Log) Room(bytes int) error {
	l.mu.Lock()
	err := l.queue.Ended()
	waiting := l.queue.Waiting()
	l.mu.Unlock()
	if err != nil {
		return err
	}
	if o := &l.options; o.MaxBytes > 0 { // the method hold reserves the rest before a commit
		bytes = min(bytes, int(o.MaxBytes/aheadShare))
	}
	l.space.Lock()
	defer l.space.Unlock()
	if l.tail.first == l.nextFile {
		return l.tail.reserve(l.tail.cost(waiting+int64(bytes)), l.step())
	}
	// The next batch begins a file that does not exist yet. Create the file now, so that space can be reserved in it.
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
