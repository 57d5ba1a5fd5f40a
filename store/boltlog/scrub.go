package boltlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
)

// Scrub implements store.Tended: it verifies one sealed file on the disk, the first one that begins after record
// `after`, or the oldest one if there is none. It returns the file's first record, the argument for the next call; 0
// when no file is sealed yet. It returns ErrCorrupt when the file is damaged; notes report defects of its index. Any
// goroutine may call it, and it blocks no other method.
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
		return first, nil, nil // the file was pruned meanwhile: nothing to check
	}
	return first, notes, err
}

func scrub(ctx context.Context, dir string, first events.Sequence) (notes []string, err error) {
	f, err := openSealed(dir, first)
	if err != nil {
		return nil, explainOpen(f, err)
	}
	defer func() { err = errors.Join(err, f.end(store.ErrClosed)) }()
	if err := disk.Forget(f.file); err != nil {
		return nil, fmt.Errorf("verify %s: %w", f.path, err)
	}
	v := &verifier{ctx: ctx, dir: dir}
	err = v.file(f, true)
	return v.notes, err
}
