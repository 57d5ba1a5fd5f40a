package memlog

import (
	"context"
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/store"
)

// SaveSnapshot implements store.Log: it keeps a snapshot (state of all Jobs) in memory.
func (l *Log) SaveSnapshot(_ context.Context, s store.Snapshot) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.queue.Ended(); err != nil {
		return err
	}
	if !l.holds(s) {
		return fmt.Errorf("save snapshot of record %d: it does not belong to the durable log", s.Head.Sequence)
	}
	l.snapshots = append(l.snapshots, copySnapshot(s))
	if n := len(l.snapshots); n > 2 {
		l.snapshots = slices.Delete(l.snapshots, 0, n-2)
	}
	return nil
}

// LoadSnapshot implements store.Log: it returns the newest snapshot that fits the durable records; false if there is
// none.
func (l *Log) LoadSnapshot(context.Context) (store.Snapshot, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return store.Snapshot{}, false, store.ErrClosed
	}
	for _, s := range slices.Backward(l.snapshots) {
		if l.holds(s) {
			return copySnapshot(s), true, nil
		}
	}
	return store.Snapshot{}, false, nil
}

// holds reports whether s is a snapshot of this log, and its head is the last record of a durable batch.
func (l *Log) holds(s store.Snapshot) bool {
	if s.Identity != l.identity {
		return false
	}
	return slices.ContainsFunc(l.batches[:l.durable], func(b *batch) bool { return b.Work.head == s.Head })
}

func copySnapshot(s store.Snapshot) store.Snapshot {
	s.Streams = slices.Clone(s.Streams)
	for i := range s.Streams {
		s.Streams[i].State = slices.Clone(s.Streams[i].State)
		s.Streams[i].Names = slices.Clone(s.Streams[i].Names)
	}
	return s
}
