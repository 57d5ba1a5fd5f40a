package boltlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Scrub verifies one sealed file of a log that is open, as it is on the disk: the first that begins behind a record,
// or, when there is none, the oldest. It returns the file's first record, with which the next call goes on; 0 when no
// file is sealed yet. The error is ErrCorrupt when the file is damaged; notes are about its index. Any goroutine may
// call it at any time, and it blocks no other call.
func (l *Log) Scrub(ctx context.Context, after events.Sequence) (first events.Sequence, notes []string, err error) {
	s, err := l.view()
	if err != nil {
		return 0, nil, err
	}
	for _, f := range s.files[:len(s.files)-1] {
		if first == 0 || first <= after && f.first > after {
			first = f.first
		}
	}
	if first == 0 {
		return 0, nil, nil
	}
	notes, err = scrub(ctx, l.dir, first)
	if errors.Is(err, fs.ErrNotExist) && l.First() > first {
		return first, nil, nil // it was pruned meanwhile
	}
	return first, notes, err
}

func scrub(ctx context.Context, dir string, first events.Sequence) (notes []string, err error) {
	f, err := openSealed(dir, first)
	if err != nil {
		return nil, explainOpen(f, err)
	}
	defer func() { err = errors.Join(err, f.end(store.ErrClosed)) }()
	if err := forget(f.file); err != nil {
		return nil, fmt.Errorf("verify %s: %w", f.path, err)
	}
	v := &verifier{ctx: ctx, dir: dir}
	err = v.file(f, true)
	return v.notes, err
}
