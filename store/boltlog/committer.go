package boltlog

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// One goroutine commits what waits, a group at a time. A group begins at once when somebody waits for a batch in it,
// otherwise when enough waits or waited for long enough. While fewer batches have come than made up the last group, it
// gathers for at most a quarter of the time the last commit took: else two halves of the appenders take turns.
const (
	groupRecords = 4096
	groupBytes   = 512 << 10
	idleBytes    = 64 << 10               // of batches that nobody waits for
	idleDelay    = 100 * time.Millisecond // of a batch that nobody waits for
	retryDelay   = 200 * time.Millisecond // between attempts to get space that Room had promised
)

// commits runs until Close, or until a commit fails.
func (l *Log) commits() {
	defer close(l.committed)
	var lastSize int
	var lastTook time.Duration
	for {
		group, offsets := l.nextGroup(lastSize, lastTook/4)
		if group == nil && offsets == nil {
			return
		}
		begin := time.Now()
		err := l.commit(group, offsets)
		lastSize, lastTook = len(group), time.Since(begin)
		l.mu.Lock()
		if err != nil {
			l.fail(err)
			for _, p := range group {
				p.end(fmt.Errorf("%w: %w", store.ErrFailed, err))
			}
			l.mu.Unlock()
			return
		}
		for consumer, through := range offsets {
			if l.newOffsets[consumer] == through {
				delete(l.newOffsets, consumer)
			}
		}
		if len(group) > 0 {
			l.durable, l.durableEpoch = l.tail.head.Head, l.tail.head.epoch
			l.tailFirst, l.tailBytes = l.tail.first, l.tail.high.Load()
			for _, p := range group {
				l.waiting -= p.bytes
			}
			l.announce()
		}
		if l.durable.Sequence >= l.indexedTo+indexEvery {
			l.indexedTo = l.durable.Sequence
			l.background.Go(l.indexSoFar)
		}
		l.mu.Unlock()
		for _, p := range group {
			p.end(nil)
		}
	}
}

// nextGroup waits for work and takes it from the queue; both are nil when the log closes and all is done.
func (l *Log) nextGroup(target int, gather time.Duration) ([]*pending, map[string]events.Sequence) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.due() {
		if l.failed != nil {
			return nil, nil
		}
		if l.closing {
			if len(l.newOffsets) > 0 {
				return nil, maps.Clone(l.newOffsets)
			}
			return nil, nil
		}
		wait := time.Duration(-1)
		if len(l.queue) > 0 {
			wait = max(0, idleDelay-time.Since(l.queue[0].appended))
		}
		l.sleep(wait)
	}
	if target > 1 && gather > 0 {
		l.gathering = target
		for deadline := time.Now().Add(gather); len(l.queue) < target && !l.closing && l.queued < groupBytes; {
			left := time.Until(deadline)
			if left <= 0 {
				break
			}
			l.sleep(left)
		}
		l.gathering = 0
	}
	return l.take(), maps.Clone(l.newOffsets)
}

// due reports whether a commit should begin. The caller holds mu.
func (l *Log) due() bool {
	return len(l.queue) > 0 &&
		(l.urgent > 0 || l.queued >= idleBytes || l.closing || time.Since(l.queue[0].appended) >= idleDelay)
}

// sleep gives mu up until something changes, or until d has passed; without limit when d is negative.
func (l *Log) sleep(d time.Duration) {
	l.mu.Unlock()
	defer l.mu.Lock()
	if d < 0 {
		<-l.wake
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-l.wake:
	case <-timer.C:
	}
}

// take removes a group from the queue: whole batches of one file, and at least one. The caller holds mu.
func (l *Log) take() []*pending {
	records, bytes, n := 0, int64(0), 0
	for _, p := range l.queue {
		if n > 0 && (records+len(p.stored) > groupRecords || bytes+p.bytes > groupBytes || p.file != l.queue[0].file) {
			break
		}
		records, bytes, n = records+len(p.stored), bytes+p.bytes, n+1
		if p.soon {
			l.urgent--
		}
	}
	group := l.queue[:n:n]
	l.queue = l.queue[n:]
	l.queued -= bytes
	return group
}

// commit makes a group durable.
func (l *Log) commit(group []*pending, offsets map[string]events.Sequence) error {
	bytes := int64(0)
	for _, p := range group {
		bytes += p.bytes
	}
	if len(group) > 0 && group[0].file > l.tail.first {
		if err := l.rotate(group[0]); err != nil {
			return fmt.Errorf("begin the file of record %d: %w", group[0].file, err)
		}
	}
	if err := l.hold(bytes); err != nil {
		return err
	}
	after := l.tail.head
	var w chunkWriter
	for _, p := range group {
		hash := after.Hash
		for i, stored := range p.stored {
			var err error
			if hash, err = hash.Next(stored); err != nil {
				return err
			}
			w.add(p.first+events.Sequence(i), stored)
		}
		after.Head, after.epoch = p.after, p.epoch
		after.Hash = hash
	}
	if err := l.tail.commit(w.end(after.Hash), after, offsets); err != nil {
		return fmt.Errorf("commit records through %d: %w", after.Sequence, err)
	}
	return nil
}

// hold makes sure of space for a group. Room has done so already, but for more than it promised, or for readers that
// keep many pages alive; then nothing is lost by waiting, while a commit that runs out of space ends the log.
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
		l.mu.Lock()
		closing := l.closing
		if !closing {
			l.sleep(retryDelay)
		}
		l.mu.Unlock()
		if closing {
			return err
		}
	}
}

// rotate begins the file of p and seals the one before it.
func (l *Log) rotate(p *pending) error {
	l.space.Lock()
	defer l.space.Unlock()
	next, err := l.spareTail()
	if err != nil {
		return err
	}
	old := l.tail
	b := begin{first: p.first, before: old.head.Head, least: l.options.least()}
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

// indexSealed stores the index of a sealed file. Without it the index is made again when it is needed.
func (l *Log) indexSealed(f, before *logFile) {
	if err := f.storeIndex(before); err != nil && !errors.Is(err, store.ErrClosed) && !errors.Is(err, store.ErrPruned) {
		l.options.Logger.Warn("the index of a sealed file is not stored", slog.String("file", f.path), slog.Any("error", err))
	}
}
