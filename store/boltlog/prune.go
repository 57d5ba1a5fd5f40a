package boltlog

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Prunable is the first sequence that Prune(before) would keep: the beginning of the file that holds before, or of the
// tail. It is what the Pruned record says that the caller appends first.
func (l *Log) Prunable(before events.Sequence) (events.Sequence, error) {
	s, err := l.view()
	if err != nil {
		return 0, err
	}
	keep := s.files[0].first
	for _, f := range s.files {
		if f.first <= before {
			keep = f.first
		}
	}
	return keep, nil
}

// Prune deletes the sealed files that have only records before that sequence, oldest first, and returns the first
// sequence that is kept. The caller has made a Pruned record durable whose First is not less than that; without one it
// refuses, because the log must admit its gaps. Streams that are still needed have been stated again in a file that
// stays. What is interrupted is continued by the next call.
func (l *Log) Prune(ctx context.Context, before events.Sequence) (events.Sequence, error) {
	keep, err := l.Prunable(before)
	if err != nil {
		return 0, err
	}
	if first := l.First(); keep > l.cut && keep > first {
		return first, fmt.Errorf("prune records before %d: no durable Pruned record says so; the newest is for %d", keep, l.cut)
	}
	if l.cutAt > l.Head().Sequence {
		return l.First(), fmt.Errorf("prune records before %d: the Pruned record %d is not durable yet", keep, l.cutAt)
	}
	for {
		if err := ctx.Err(); err != nil {
			return l.First(), err
		}
		l.mu.Lock()
		f := l.files[0]
		if f.first >= keep {
			l.mu.Unlock()
			return f.first, nil
		}
		l.files = l.files[1:len(l.files):len(l.files)]
		l.mu.Unlock()
		err := l.unlink(f)
		if err == nil {
			err = syncDir(l.dir) // before the next goes: a power cut may undo deletions in any order, and must leave no hole
		}
		if err != nil {
			return l.First(), fmt.Errorf("prune %s: %w", f.path, err)
		}
	}
}

// unlink removes a file that is no longer on the view. Its readers get ErrPruned.
func (l *Log) unlink(f *logFile) error {
	err := f.end(fmt.Errorf("the file is deleted: %w", store.ErrPruned))
	if gone := os.Remove(f.path); gone != nil {
		return errors.Join(err, gone)
	}
	if gone := os.Remove(f.indexPath()); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		return errors.Join(err, gone)
	}
	return err
}
