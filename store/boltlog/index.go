package boltlog

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/boltfile"
	"github.com/jobledger/jobledger/store/internal/chunk"
	"github.com/jobledger/jobledger/store/internal/index"
	"github.com/jobledger/jobledger/store/internal/streamindex"
)

// visit is called for each record of a file, in order. l has the record's sequence and kind, stored its bytes.
type visit func(l events.Label, stored []byte) error

// scan reads the records of the file up to record last, and calls fn for each. It checks checksums, sequences and
// labels (sequence and kind), and that the last record ends a batch. group, if not nil, is called after each commit
// group (the records of one commit) with the chain value (hash over all records so far) that the file stores. An error
// names the first bad record.
func (f *logFile) scan(last events.Sequence, fn visit, group func(events.Hash) error) error {
	return f.scanFrom(f.first, last, fn, group)
}

// scanFrom calls fn for the records [from, last] of the file, and group at the end of each commit. It is scan with a
// first record.
func (f *logFile) scanFrom(from, last events.Sequence, fn visit, group func(events.Hash) error) error {
	ended := true
	for next := from; next <= last; {
		chunks, _, failed := f.chunks(next, last, readBytes)
		for i, c := range chunks {
			end, err := scanChunk(c, &next, i == 0 && (f.replaced.Load() || next == from && from > f.first), fn)
			if err == nil {
				ended = end.batch
				if end.group != nil && group != nil {
					err = group(*end.group)
				}
			}
			if err != nil {
				return f.explain(next, err)
			}
		}
		if failed == nil && len(chunks) == 0 {
			failed = fmt.Errorf("%w: the record is missing", boltfile.ErrPage)
		}
		if failed != nil {
			return f.explain(next, failed)
		}
	}
	if !ended {
		return f.corrupt(last, errors.New("the batch that it ends has no end mark"))
	}
	return nil
}

// chunkEnd says whether a batch and a commit group (the records of one commit) end with a chunk (stored group of
// records). group is nil if no commit group ends there; *group is then its stored chain value.
type chunkEnd struct {
	batch bool
	group *events.Hash
}

// scanChunk calls fn for the records of a chunk (stored group of records), and increments *next after each. The chunk
// must begin with record *next. If within is set, it may begin earlier; the earlier records are skipped.
func scanChunk(c chunk.Chunk, next *events.Sequence, within bool, fn visit) (chunkEnd, error) {
	reader, err := c.Reader()
	if err != nil {
		return chunkEnd{}, err
	}
	for within && reader.Next < *next && len(reader.Rest) > 0 && err == nil {
		err = reader.Skip()
	}
	if err != nil {
		return chunkEnd{}, err
	}
	if reader.Next != *next {
		return chunkEnd{}, fmt.Errorf("%w: the next one there is %d", chunk.ErrChunk, reader.Next)
	}
	end := chunkEnd{group: reader.Hash}
	for {
		stored, ok, err := reader.Record()
		if !ok {
			return end, err
		}
		l, err := events.DecodeLabel(stored)
		switch {
		case err != nil:
			return end, fmt.Errorf("%w: %w", chunk.ErrChunk, err)
		case l.Sequence != *next:
			return end, fmt.Errorf("%w: it says that it is record %d", chunk.ErrChunk, l.Sequence)
		}
		if err := fn(l, stored); err != nil {
			return end, err
		}
		*next, end.batch = *next+1, l.Last
	}
}

// buildIndex returns the index of the file's records up to record last: which records each stream (all records of one
// Job or CronJob) has. It extends the stored index if there is one. On an error, the index covers the records before
// the bad one.
func (f *logFile) buildIndex(last events.Sequence) (*index.Index, error) {
	x, from := f.indexed(last)
	return x, f.scanFrom(from, last, func(l events.Label, stored []byte) error { return indexRecord(x, l, stored) }, nil)
}

// indexRecord adds a record to x. It decodes only the fields that the index needs.
func indexRecord(x *index.Index, l events.Label, stored []byte) error {
	if index.SeesNew(l.Kind) {
		r, err := decode(stored, l.Sequence)
		if err == nil {
			x.AddRecord(&r)
		}
		return err
	}
	h, err := events.DecodeHeader(stored)
	var name index.Name
	if err == nil && index.Named(&h) {
		name.Namespace, name.Name, err = events.EvidenceName(stored)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", chunk.ErrChunk, err)
	}
	x.Add(&h, name)
	return nil
}

// run returns the sequences of the stream's records in this file that are in [from, through].
func (f *logFile) run(s events.Stream, from, through events.Sequence) (run index.Run, err error) {
	err = f.ask(
		func(x *index.Index) { run = x.Run(s, from, through) },
		func(x *streamindex.Index) error {
			all, err := x.Run(s)
			run = all.Clip(from, through)
			return err
		})
	return run, err
}

// namedStreams returns the streams (records of one Job or CronJob) in this file whose object had the name, oldest
// first, as far as a record up to through tells it.
func (f *logFile) namedStreams(name index.Name, through events.Sequence) (all []index.NamedStream, err error) {
	err = f.ask(
		func(x *index.Index) { all = x.Bearers(name, through) },
		func(x *streamindex.Index) error {
			all, err = x.NamedStreams(name)
			return err
		})
	return all, err
}

// ask queries the index of the file. It calls `memory` if the index is in memory, `stored` if it is on disk. If the
// index on disk is missing, damaged or of another file, ask first builds it in memory.
func (f *logFile) ask(memory func(*index.Index), stored func(*streamindex.Index) error) error {
	for {
		inMemory, onDisk, err := f.lookup()
		if err != nil {
			return err
		}
		if inMemory != nil {
			memory(inMemory)
			return nil
		}
		if err := stored(onDisk); err == nil {
			return nil
		}
		f.distrust(onDisk)
	}
}

func (f *logFile) lookup() (*index.Index, *streamindex.Index, error) {
	f.indexMu.Lock()
	defer f.indexMu.Unlock()
	if f.memory != nil {
		return f.memory, nil, nil
	}
	if f.stored != nil {
		return nil, f.stored, nil
	}
	end, err := f.sealedHead()
	if err != nil {
		return nil, nil, err
	}
	if !f.distrusted {
		if f.stored, err = streamindex.Open(f.indexPath(), f.first, end.Head); err == nil {
			return nil, f.stored, nil
		}
		f.stored = nil
	}
	memory, err := f.buildIndex(end.Sequence)
	if err != nil && !errors.Is(err, store.ErrCorrupt) {
		return nil, nil, err
	}
	f.memory, f.holed = memory, err
	return f.memory, nil, nil
}

// hole returns an error that says which records the file's index lacks, if the index was built from a damaged file;
// otherwise nil.
func (f *logFile) hole() error {
	f.indexMu.Lock()
	defer f.indexMu.Unlock()
	return f.holed
}

// Holes implements store.Filed: it returns an error for each sealed file whose index lacks records, because the file is
// damaged.
func (l *logReader) Holes() (all []error) {
	s, err := l.view()
	if err != nil {
		return nil // the log is closed, so there are no files to ask
	}
	for _, f := range s.files {
		if hole := f.hole(); hole != nil {
			all = append(all, hole)
		}
	}
	return all
}

// sealedHead returns the head after a sealed file: its last record, with chain hash, epoch and term.
func (f *logFile) sealedHead() (head, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.ended != nil {
		return head{}, f.ended
	}
	end, err := f.head()
	if err != nil {
		return head{}, f.corrupt(f.first, err)
	}
	return end, nil
}

// distrust is called when a block of the index x on disk could not be read: x is not used any more, and the index is
// built again in memory.
func (f *logFile) distrust(x *streamindex.Index) {
	f.indexMu.Lock()
	defer f.indexMu.Unlock()
	if f.stored == x {
		f.stored, f.distrusted = nil, true
		_ = x.Close()
	}
}

func (f *logFile) indexPath() string {
	return filepath.Join(filepath.Dir(f.path), fileName(f.first, indexSuffix))
}

// hasStoredIndex reports whether this sealed file has an index on disk that belongs to it. Damage within the index is
// found only when it is read.
func (f *logFile) hasStoredIndex() bool {
	end, err := f.sealedHead()
	if err != nil {
		return false
	}
	f.indexMu.Lock()
	defer f.indexMu.Unlock()
	if f.stored == nil {
		if f.stored, err = streamindex.Open(f.indexPath(), f.first, end.Head); err != nil {
			f.stored = nil
		}
	}
	return f.stored != nil
}

// storeIndex writes the index of a sealed file to disk, and frees the index in memory. before is the file before this
// one in the log; nil for none.
func (f *logFile) storeIndex(before *logFile) error {
	memory, _, err := f.lookup()
	if err == nil {
		err = f.hole()
	}
	if err != nil || memory == nil {
		return err
	}
	end, err := f.sealedHead()
	if err != nil {
		return err
	}
	if err := f.writeIndex(memory, end.Head, before); err != nil {
		return err
	}
	f.indexMu.Lock()
	defer f.indexMu.Unlock()
	f.memory, f.distrusted = nil, false
	f.stored, err = streamindex.Open(f.indexPath(), f.first, end.Head)
	return err
}

// writeIndex writes the index of the file's records up to head end to disk. It includes the creation time of the
// youngest object in this file and in `before`, the file before it (nil for none).
func (f *logFile) writeIndex(memory *index.Index, end store.Head, before *logFile) error {
	youngest := memory.Youngest()
	switch {
	case before != nil:
		youngest = max(youngest, before.youngestThrough())
	case f.first > 1:
		youngest = anyAge // the earlier files were deleted, so their objects may have any age
	}
	if err := disk.WriteFile(f.indexPath(), streamindex.Encode(memory, end, youngest)); err != nil {
		return fmt.Errorf("store the index of %s: %w", f.path, err)
	}
	return nil
}

// indexTail stores the index of the newest file when the log is closed, so that readers of the closed log need not
// build it. The index is replaced later, when the file has more records.
func (l *Log) indexTail() error {
	var before *logFile
	n := len(l.files)
	if n > 1 {
		before = l.files[n-2]
	}
	f := l.files[n-1]
	if l.durable.Sequence < f.first || indexEnd(f.indexPath()) == l.durable {
		return nil
	}
	return f.writeIndex(f.memory, l.durable, before)
}

// anyAge stands for an unknown creation time: the file may have objects of any age.
const anyAge = events.Time(math.MaxInt64)

// youngestThrough returns the latest creation time of all objects in this sealed file and all earlier files, even
// pruned ones. It returns anyAge if that is not known.
func (f *logFile) youngestThrough() events.Time {
	f.indexMu.Lock()
	defer f.indexMu.Unlock()
	if f.stored == nil {
		return anyAge
	}
	return f.stored.Youngest
}

// indexSealed stores the index of a sealed file f. before is the file before f in the log. If the write fails, it
// logs a warning, and a reader that needs the index builds it.
func (l *Log) indexSealed(f, before *logFile) {
	if err := f.storeIndex(before); err != nil && !errors.Is(err, store.ErrClosed) && !errors.Is(err, store.ErrPruned) {
		l.options.Logger.Warn("the index of a sealed file is not stored", slog.String("file", f.path), slog.Any("error", err))
	}
}

// indexAll stores the missing indexes of sealed files, oldest first. The order matters, because each index includes the
// creation time of the youngest object in all files up to its own.
func (l *Log) indexAll(files []*logFile) {
	l.indexing.Lock()
	defer l.indexing.Unlock()
	var before *logFile
	for _, f := range files {
		if !f.hasStoredIndex() {
			l.indexSealed(f, before)
		}
		before = f
	}
}
