package boltlog

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/index"
)

// visit is called for a record of a file, in order, with its label.
type visit func(l events.Label, stored []byte) error

// scan walks the stored records [first of the file, last] and checks what can be checked one by one: checksums,
// density, labels, the end mark of the last one. After the last record of a commit group it calls group, if not nil,
// with the chain value that is stored there. Errors name the first bad record.
func (f *logFile) scan(last events.Sequence, fn visit, group func(events.Hash) error) error {
	return f.scanFrom(f.first, last, fn, group)
}

// scanFrom begins with a later record.
func (f *logFile) scanFrom(from, last events.Sequence, fn visit, group func(events.Hash) error) error {
	ended := true
	for next := from; next <= last; {
		chunks, _, failed := f.chunks(next, last, readBytes)
		for i, c := range chunks {
			end, err := c.scan(&next, i == 0 && (f.replaced.Load() || next == from && from > f.first), fn)
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
			failed = fmt.Errorf("%w: the record is missing", errPage)
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

// chunkEnd says what ends with a chunk.
type chunkEnd struct {
	batch bool
	group *events.Hash
}

// scan walks the records of a chunk and moves *next behind each. The first record must be *next; with within it may be
// before that.
func (c chunk) scan(next *events.Sequence, within bool, fn visit) (chunkEnd, error) {
	reader, err := c.reader()
	if err != nil {
		return chunkEnd{}, err
	}
	for within && reader.next < *next && len(reader.rest) > 0 && err == nil {
		err = reader.skip()
	}
	if err != nil {
		return chunkEnd{}, err
	}
	if reader.next != *next {
		return chunkEnd{}, fmt.Errorf("%w: the next one there is %d", errChunk, reader.next)
	}
	end := chunkEnd{group: reader.hash}
	for {
		stored, ok, err := reader.record()
		if !ok {
			return end, err
		}
		l, err := events.DecodeLabel(stored)
		switch {
		case err != nil:
			return end, fmt.Errorf("%w: %w", errChunk, err)
		case l.Sequence != *next:
			return end, fmt.Errorf("%w: it says that it is record %d", errChunk, l.Sequence)
		}
		if err := fn(l, stored); err != nil {
			return end, err
		}
		*next, end.batch = *next+1, l.Last
	}
}

// buildIndex makes the index of the file's records through last; with an error, of those before it. It goes on from the
// index that is stored, if that is of fewer records.
func (f *logFile) buildIndex(last events.Sequence) (*index.Index, error) {
	x, from := f.indexed(last)
	return x, f.scanFrom(from, last, func(l events.Label, stored []byte) error { return indexRecord(x, l, stored) }, nil)
}

// indexRecord adds a record. It reads only the fields that an index holds.
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
		return fmt.Errorf("%w: %w", errChunk, err)
	}
	x.Add(&h, name)
	return nil
}

// run gives the stream's records of this file in [from, through].
func (f *logFile) run(s events.Stream, from, through events.Sequence) (run index.Run, err error) {
	err = f.ask(
		func(x *index.Index) { run = x.Run(s, from, through) },
		func(x *storedIndex) error {
			all, err := x.run(s)
			run = all.Clip(from, through)
			return err
		})
	return run, err
}

// namedStreams gives the streams that bore a name in this file, oldest first.
func (f *logFile) namedStreams(name index.Name, through events.Sequence) (all []index.NamedStream, err error) {
	err = f.ask(
		func(x *index.Index) { all = x.Bearers(name, through) },
		func(x *storedIndex) error {
			all, err = x.namedStreams(name)
			return err
		})
	return all, err
}

// ask asks one of the two forms of the index. A stored one that is missing, damaged or another file's is replaced by
// one made from the records.
func (f *logFile) ask(memory func(*index.Index), stored func(*storedIndex) error) error {
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

func (f *logFile) lookup() (*index.Index, *storedIndex, error) {
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
		if f.stored, err = openStoredIndex(f.indexPath(), f.first, end.Head); err == nil {
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

// hole says from where on the index lacks what the file may hold, because it was made from a file that is damaged; nil
// when it lacks nothing.
func (f *logFile) hole() error {
	f.indexMu.Lock()
	defer f.indexMu.Unlock()
	return f.holed
}

// Holes says what is wrong with sealed files that are known to be damaged, because no index can be made of all their
// records.
func (l *logReader) Holes() (all []error) {
	s, err := l.view()
	if err != nil {
		return nil // it is closed
	}
	for _, f := range s.files {
		if hole := f.hole(); hole != nil {
			all = append(all, hole)
		}
	}
	return all
}

// sealedHead is the head of a file that is no longer written.
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

// distrust stops using a stored index after one of its blocks could not be read.
func (f *logFile) distrust(x *storedIndex) {
	f.indexMu.Lock()
	defer f.indexMu.Unlock()
	if f.stored == x {
		f.stored, f.distrusted = nil, true
		_ = x.close()
	}
}

func (f *logFile) indexPath() string {
	return filepath.Join(filepath.Dir(f.path), fileName(f.first, indexSuffix))
}

// hasStoredIndex reports whether the index of a sealed file is there, and is of this file. Whether its blocks are good
// shows when they are read.
func (f *logFile) hasStoredIndex() bool {
	end, err := f.sealedHead()
	if err != nil {
		return false
	}
	f.indexMu.Lock()
	defer f.indexMu.Unlock()
	if f.stored == nil {
		if f.stored, err = openStoredIndex(f.indexPath(), f.first, end.Head); err != nil {
			f.stored = nil
		}
	}
	return f.stored != nil
}

// storeIndex writes the index of a sealed file beside it, and frees the one in memory. Before is the file before it;
// nil when there is none.
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
	f.stored, err = openStoredIndex(f.indexPath(), f.first, end.Head)
	return err
}

// writeIndex writes the index of the file's records through that head.
func (f *logFile) writeIndex(memory *index.Index, end store.Head, before *logFile) error {
	youngest := memory.Youngest()
	switch {
	case before != nil:
		youngest = max(youngest, before.youngestThrough())
	case f.first > 1:
		youngest = anyAge // files before it were pruned
	}
	if err := writeFile(f.indexPath(), encodeIndex(memory, end, youngest)); err != nil {
		return fmt.Errorf("store the index of %s: %w", f.path, err)
	}
	return nil
}

// indexTail stores the index of the tail at a stop, for readers of a log that no process writes. One of the same file
// with more records replaces it later.
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

// anyAge stands for what is not known: an object of any age may be in the file.
const anyAge = events.Time(math.MaxInt64)

// youngestThrough is when the youngest object was created that a sealed file or any before it has seen, also those that
// were pruned; anyAge when that is not known.
func (f *logFile) youngestThrough() events.Time {
	f.indexMu.Lock()
	defer f.indexMu.Unlock()
	if f.stored == nil {
		return anyAge
	}
	return f.stored.youngest
}

// writeFile puts a whole file in place, durably: after a crash there is the old one, the new one or, if there was no
// old one, none.
func writeFile(path string, content []byte) error {
	temp := path + tempSuffix
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncDir(filepath.Dir(path))
}

// indexSealed stores the index of a sealed file. Without it the index is made again when it is needed.
func (l *Log) indexSealed(f, before *logFile) {
	if err := f.storeIndex(before); err != nil && !errors.Is(err, store.ErrClosed) && !errors.Is(err, store.ErrPruned) {
		l.options.Logger.Warn("the index of a sealed file is not stored", slog.String("file", f.path), slog.Any("error", err))
	}
}

// indexAll stores the indexes that sealed files lack, in their order: each says how young its objects are and those
// before it.
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
