package boltlog

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/chunk"
	"github.com/jobledger/jobledger/store/internal/commit"
	"github.com/jobledger/jobledger/store/internal/index"
)

// retryDelay is the pause before a commit tries again to allocate disk space. Room had promised that space, but the
// disk is full now.
const retryDelay = 200 * time.Millisecond

// pending is a batch that was appended and is not durable yet.
type pending = commit.Batch[work]

// work is a batch as the committer (the goroutine that writes commits) needs it: the encoded records, and the values to
// store with them.
type work struct {
	stored [][]byte
	first  events.Sequence
	after  store.Head // the head (last record) after the batch, without the hash, which the committer computes
	epoch  uint64
	term   uint64
	file   events.Sequence
	index  *index.Index // index of the file with first record `file`
	given  bool         // the batch came from AppendStored: another log has stored it already
	hash   events.Hash  // if given: the chain value (hash over all records so far) that must result after the records
}

// commits makes appended batches durable, one group of batches after the other, until Close or a failed commit. Open
// starts it as a goroutine.
func (l *Log) commits() {
	defer close(l.committed)
	l.queue.Run(&l.mu, commit.Backend[work]{Commit: l.commit, Committed: l.landed})
}

// commit makes a group of batches durable in one transaction, with the consumers' offsets (up to which record each has
// read). It first creates a new file if the group begins one, and waits until there is disk space.
func (l *Log) commit(group []*pending, offsets map[string]events.Sequence) error {
	after, err := l.headBehind(group)
	if err != nil {
		return err
	}
	if err := l.before(group, after, offsets); err != nil {
		return fmt.Errorf("commit records through %d: %w", after.Sequence, err)
	}
	bytes := int64(0)
	for _, p := range group {
		bytes += int64(p.Bytes())
	}
	if len(group) > 0 && group[0].Work.file > l.tail.first {
		if err := l.rotate(&group[0].Work); err != nil {
			return fmt.Errorf("begin the file of record %d: %w", group[0].Work.file, err)
		}
	}
	if err := l.hold(bytes); err != nil {
		return err
	}
	if err := l.tail.commit(chunksOf(group, after.Hash), after, offsets); err != nil {
		return fmt.Errorf("commit records through %d: %w", after.Sequence, err)
	}
	return nil
}

// headBehind returns the head (last record, its chain hash and time) that the log will have after the group. It returns
// ErrDiverged if batches of another log do not have the chain value they claim.
func (l *Log) headBehind(group []*pending) (after head, err error) {
	after = l.tail.head
	for _, b := range group {
		p, hash := &b.Work, after.Hash
		for _, stored := range p.stored {
			if hash, err = hash.Next(stored); err != nil {
				return after, err
			}
		}
		after.Head, after.epoch, after.term = p.after, p.epoch, p.term
		after.Hash = hash
		if p.given && hash != p.hash {
			return after, fmt.Errorf("append records %d to %d: %w: behind them the chain value is %s, and was to be %s",
				p.first, p.after.Sequence, store.ErrDiverged, hash, p.hash)
		}
	}
	return after, nil
}

// before calls Options.Before, which may refuse a group of batches before it is written. It skips batches from
// AppendStored.
func (l *Log) before(group []*pending, after head, offsets map[string]events.Sequence) error {
	if l.options.Before == nil || len(group) == 0 || group[0].Work.given {
		return nil
	}
	l.mu.Lock()
	id := events.Identity{LogID: l.identity.LogID, Epoch: after.epoch}
	l.mu.Unlock()
	first := &group[0].Work
	g := store.Group{
		Identity: id, Term: after.term, Before: l.tail.head.Head, After: after.Head, BeginsFile: first.file == first.first,
		Offsets: offsets, Least: l.options.Least,
	}
	for _, b := range group {
		g.Stored = append(g.Stored, b.Work.stored...)
	}
	return l.options.Before(g)
}

// hold reserves disk space for a group of batches, and waits while the disk is full. Room has already reserved space,
// but the group may need more, or readers may keep many old pages in use. Waiting does no harm; a commit without space
// would end the log. It gives up when the log is closing.
func (l *Log) hold(bytes int64) error {
	for said := false; ; {
		l.space.Lock()
		err := l.tail.reserve(l.tail.cost(bytes), l.step())
		l.space.Unlock()
		if !errors.Is(err, store.ErrNoRoom) {
			return err
		}
		if !said {
			l.options.Logger.Warn("waiting for space to commit", slog.Any("error", err))
			said = true
		}
		if closing := l.queue.Pause(&l.mu, retryDelay); closing {
			return err
		}
	}
}

// chunksOf encodes the records of a group into chunks, the values that bbolt stores. The last chunk gets hash, the
// chain value (hash over all records so far) after the group.
func chunksOf(group []*pending, hash events.Hash) []chunk.Chunk {
	var w chunk.Writer
	for _, b := range group {
		for i, stored := range b.Work.stored {
			w.Add(b.Work.first+events.Sequence(i), stored)
		}
	}
	return w.End(hash)
}

// rotate creates the log file that begins with batch p, and seals the previous file (nothing is written to it any
// more).
func (l *Log) rotate(p *work) error {
	l.space.Lock()
	defer l.space.Unlock()
	next, err := l.spareTail()
	if err != nil {
		return err
	}
	old := l.tail
	b := begin{first: p.first, before: old.head.Head, least: leastOf(&l.options)}
	l.mu.Lock()
	b.identity = events.Identity{LogID: l.identity.LogID, Epoch: old.head.epoch}
	offsets := maps.Clone(l.offsets)
	l.mu.Unlock()
	if err := next.begin(l.dir, b, old.head.term, offsets); err != nil {
		return err
	}
	l.tail, l.spare = next, nil
	l.mu.Lock()
	last := l.files[len(l.files)-1]
	var before *logFile
	if n := len(l.files); n > 1 {
		before = l.files[n-2]
	}
	l.mu.Unlock()
	if err := last.seal(func() error { return old.close(true) }); err != nil {
		return err
	}
	last.follows.Store(uint64(p.first))
	added := &logFile{path: next.path, first: p.first, db: next.db, memory: p.index}
	l.mu.Lock()
	l.files = append(l.files[:len(l.files):len(l.files)], added)
	l.mu.Unlock()
	l.background.Go(func() {
		l.indexing.Lock()
		defer l.indexing.Unlock()
		l.indexSealed(last, before)
	})
	return nil
}

// seal makes the newest file read-only. It calls close, which closes the file for writing, and then opens the file
// for readers.
func (f *logFile) seal(close func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.db = nil
	if err := close(); err != nil {
		f.ended = err
		return err
	}
	if err := f.openPages(); err != nil {
		f.ended = err
		return err
	}
	return nil
}

// spareTail returns an empty file for the next rotation (change to a new log file), and creates it if necessary. The
// caller must hold the mutex space.
func (l *Log) spareTail() (*tail, error) {
	if l.spare != nil {
		return l.spare, nil
	}
	spare, err := newTail(l.dir, l.options.RotateBytes, l.effects)
	if err != nil {
		if disk.NoSpace(err) {
			return nil, fmt.Errorf("make the next file: %w: %w", store.ErrNoRoom, err)
		}
		return nil, fmt.Errorf("make the next file: %w", err)
	}
	l.spare = spare
	return spare, nil
}
