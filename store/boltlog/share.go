package boltlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/chunk"
)

var _ store.Shared = (*Log)(nil)

// ReadStored implements store.Shared: it returns the durable records from record `from` on, as stored bytes, without
// decoding them.
func (l *Log) ReadStored(ctx context.Context, from events.Sequence) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		s, err := l.view()
		if err != nil {
			yield(nil, err)
			return
		}
		each := func(p *stretch, c chunk.Chunk, next *events.Sequence) (goOn bool, err error) {
			reader, err := c.Reader()
			for err == nil && reader.Next < *next && len(reader.Rest) > 0 {
				err = reader.Skip()
			}
			if err == nil && reader.Next != *next {
				err = fmt.Errorf("%w: the next one there is %d", chunk.ErrChunk, reader.Next)
			}
			for err == nil && *next <= p.last {
				stored, ok, bad := reader.Record()
				if bad != nil || !ok {
					err = bad
					break
				}
				if *next++; !yield(bytes.Clone(stored), nil) {
					return false, nil
				}
				err = ctx.Err()
			}
			if err != nil {
				return false, p.file.explain(*next, err)
			}
			return true, nil
		}
		for err := range s.chunksFrom(max(from, s.files[0].first), each) {
			yield(nil, err)
		}
	}
}

// Share implements store.Shared: it opens the file that begins with record first, so that another replica can copy it.
func (l *Log) Share(first events.Sequence) (*store.SharedFile, error) {
	files, err := l.Files()
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.First != first {
			continue
		}
		shared, err := l.share(f)
		if errors.Is(err, fs.ErrNotExist) && l.First() > first {
			return nil, pruned(first) // the file was pruned after the list was made
		}
		return shared, err
	}
	return nil, fmt.Errorf("share the file of record %d: %w", first, store.ErrPruned)
}

func (l *Log) share(f store.File) (*store.SharedFile, error) {
	if !f.Sealed {
		s, offsets, err := OpenWritten(l.dir, f.First)
		if err != nil {
			return nil, err
		}
		return &store.SharedFile{
			First: f.First, Before: s.Before, End: f.End, Begin: s.Begin, Term: s.Term, Offsets: offsets, Close: s.Close,
		}, nil
	}
	s, err := OpenSealed(filepath.Join(l.dir, FileName(f.First)), f.First)
	if err != nil {
		return nil, err
	}
	shared := &store.SharedFile{
		First: f.First, Before: s.Before, End: s.End, Begin: s.Begin, Term: s.Term, Sealed: true, Close: s.Close,
	}
	shared.Content, shared.Bytes = s.Content()
	shared.Edition, err = edition(s.file.file)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return shared, nil
}

// edition returns an ID for the current content of a file. The ID changes when the file is packed (rewritten in
// compressed form).
func edition(f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d-%d", info.Size(), info.ModTime().UnixNano()), nil
}
