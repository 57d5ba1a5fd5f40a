package boltlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/boltfile"
	"github.com/jobledger/jobledger/store/internal/chunk"
	"github.com/jobledger/jobledger/store/internal/index"
)

// openTail opens the newest file for appends after record end. It first verifies the whole file with read(2), because
// bbolt trusts the pages that it maps into memory.
func (l *Log) openTail(end head) error {
	f := l.files[len(l.files)-1]
	if id := l.options.LogID; id != "" && id != l.identity.LogID {
		return fmt.Errorf("the log's ID is %s, not %s: %w", l.identity.LogID, id, store.ErrForeign)
	}
	if err := readAhead(f.file, f.sealed.Bytes()); err != nil {
		return err
	}
	x, said, err := f.check(end.Head)
	if err != nil {
		return err
	}
	if l.offsets, err = f.offsets(); err != nil {
		return f.corrupt(f.first, err)
	}
	for consumer, through := range l.offsets {
		// If the consumer had read beyond the end of the log, the records it read were lost, and new records will get
		// their sequences. So set it back to the end, or it would skip the new records.
		if through > end.Sequence {
			l.offsets[consumer] = end.Sequence
			l.queue.SetOffset(consumer, end.Sequence)
		}
	}
	if err := f.file.Close(); err != nil {
		return err
	}
	if l.tail, err = openTail(f.path, l.options.RotateBytes, l.effects); err != nil {
		return err
	}
	l.tail.first = f.first
	f.file, f.sealed, f.db, f.memory = nil, nil, l.tail.db, x
	if err := l.tail.reserve(commitOverhead, l.step()); err != nil && !errors.Is(err, store.ErrNoRoom) {
		// Without disk space for later commits the log still opens, because the next commit can use pages freed by
		// the last one.
		return err
	}
	if err := l.tail.claim(end, leastOf(&l.options)); err != nil {
		return fmt.Errorf("claim the tail: %w", err)
	}
	l.term = l.tail.head.term
	if len(l.losses) == 0 {
		if err := os.Remove(filepath.Join(l.dir, closedName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	l.goOn(f, x, said, end)
	return disk.SyncDir(l.dir)
}

// check verifies a file that must end with head end: every page, chunk (stored group of records) and record label, with
// their checksums. It returns the index of the file, which extends the stored index if there is one, and what the
// records say about pruning and states.
func (f *logFile) check(end store.Head) (x *index.Index, says fileSays, err error) {
	if err := f.sealed.CheckBuckets(bucketCount); err != nil {
		return nil, says, f.explain(f.first, err)
	}
	x, from := f.indexed(end.Sequence)
	err = f.scan(end.Sequence, func(l events.Label, stored []byte) error {
		switch {
		case l.Critical && !l.Kind.Known():
			return unknownKind(l)
		case l.Kind == events.KindPruned:
			r, err := decode(stored, l.Sequence)
			if err != nil {
				return err
			}
			if p, ok := r.Facts.(*events.Pruned); ok {
				if p.First >= says.cut {
					says.cut, says.cutAt = p.First, l.Sequence
				}
			}
		}
		says.filing.Note(l.Kind, l.Sequence == f.first, len(stored))
		if l.Sequence < from {
			return nil
		}
		return indexRecord(x, l, stored)
	}, nil)
	if err != nil {
		return nil, says, err
	}
	return x, says, f.checkEnd(end)
}

// fileSays is what the records of the newest file tell the writer.
type fileSays struct {
	// the highest First (first record that pruning keeps) of the file's Pruned records; cutAt is the sequence of that
	// record
	cut    events.Sequence
	cutAt  events.Sequence
	filing store.Filing
}

// checkEnd checks that the last chunk (stored group of records) ends with record end.Sequence, that the chain hash is
// that of end, and that the file is as long as its meta page says.
func (f *logFile) checkEnd(end store.Head) error {
	if f.sealed.Truncated() {
		return f.corrupt(end.Sequence, fmt.Errorf("%w: the file has %d bytes, %d are in use", boltfile.ErrPage, f.sealed.Size, f.sealed.Bytes()))
	}
	var last chunk.Chunk
	err := f.walk(func(c chunkCursor) error {
		k, v, err := c.Floor(chunk.Key(^events.Sequence(0)))
		if err != nil || k == nil {
			return err
		}
		if last.First, err = chunk.Sequence(k); err == nil {
			last.Value = v
			last, err = last.Unpacked()
		}
		return err
	})
	if err != nil {
		return f.explain(end.Sequence, err)
	}
	if last.Value == nil {
		if end.Sequence >= f.first {
			return f.corrupt(f.first, fmt.Errorf("%w: there are no records", boltfile.ErrPage))
		}
		return nil
	}
	r, err := last.Reader()
	for err == nil && len(r.Rest) > 0 {
		err = r.Skip()
	}
	if err != nil {
		return f.explain(last.First, err)
	}
	if r.Next-1 != end.Sequence || r.Hash == nil || *r.Hash != end.Hash {
		return f.corrupt(min(r.Next, end.Sequence), fmt.Errorf("the last record is %d, hash %v, the head says %d, hash %s", r.Next-1, r.Hash, end.Sequence, end.Hash))
	}
	return nil
}

// readAhead reads the used part of a file from start to end, so that later reads of single pages find it in the page
// cache.
func readAhead(f *os.File, used int64) error {
	_, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{io.NewSectionReader(f, 0, used)}, make([]byte, 1<<20))
	return err
}

// unknownKind returns the error for a critical record of unknown kind: this program must not skip it, so it needs a
// newer program.
func unknownKind(l events.Label) error {
	return &events.NewerError{Has: events.ReaderVersion{Format: events.Format}, What: fmt.Sprintf("record %d is of %s", l.Sequence, l.Kind)}
}
