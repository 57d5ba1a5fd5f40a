package boltlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Sealed is one file of a log by itself, for who copies it: a file that no process writes. It goes on giving what it
// was opened with when the file is packed or pruned meanwhile. It belongs to one goroutine. Make it with OpenSealed.
type Sealed struct {
	// Begin is what the file says of its beginning, as it is stored.
	Begin []byte
	// Before is the head of the log before the file.
	Before store.Head
	// End is its last record.
	End store.Head
	// Began is the identity of the log before the file, and Identity that at End.
	Began    events.Identity
	Identity events.Identity
	// Term is the newest that began in the log, as of End.
	Term uint64

	file *logFile
}

// Firsts are the records with which the files of a log begin, oldest first. All but the last are sealed.
func Firsts(dir string) ([]events.Sequence, error) { return listFiles(dir, fileSuffix) }

// FileName is the name of the file that begins with a record.
func FileName(first events.Sequence) string { return fileName(first, fileSuffix) }

// Derived are the names of what is derived from that file, and may stand beside it.
func Derived(first events.Sequence) []string {
	return []string{fileName(first, indexSuffix), fileName(first, listSuffix)}
}

// IsDerived reports whether what stands at that path is derived from the whole of a file that ends so: an index of it,
// or a list of Jobs by its name.
func IsDerived(path, logID string, end store.Head) bool {
	if strings.HasSuffix(path, listSuffix) {
		id, head := listEnd(path)
		return id == logID && head == end
	}
	return indexEnd(path) == end
}

// OpenSealed opens the file at that path that begins with that record; its name does not matter. The error is
// ErrCorrupt when the file does not say what it is. Of a file that a process writes it gives what it says at that
// moment, or an error.
func OpenSealed(path string, first events.Sequence) (*Sealed, error) {
	f := &logFile{path: path, first: first}
	if err := f.openPages(); err != nil {
		return nil, explainOpen(f, err)
	}
	s := &Sealed{file: f}
	if err := s.says(); err != nil {
		return nil, errors.Join(f.explain(first, err), s.Close())
	}
	return s, nil
}

func (s *Sealed) says() error {
	raw, err := s.file.meta(beginKey)
	if err != nil {
		return err
	}
	b, err := s.file.begin()
	if err != nil {
		return err
	}
	if b.before.Sequence+1 != s.file.first {
		return fmt.Errorf("the file says that it continues record %d", b.before.Sequence)
	}
	end, err := s.file.head()
	if err != nil {
		return err
	}
	s.Begin, s.Before, s.End, s.Term = append([]byte(nil), raw...), b.before, end.Head, end.term
	s.Began, s.Identity = b.identity, events.Identity{LogID: b.identity.LogID, Epoch: end.epoch}
	return nil
}

// First is the record with which it begins.
func (s *Sealed) First() events.Sequence { return s.file.first }

// Offsets are those of consumers, as the file says.
func (s *Sealed) Offsets() (map[string]events.Sequence, error) {
	all, err := s.file.offsets()
	if err != nil {
		return nil, s.file.explain(s.file.first, err)
	}
	return all, nil
}

// Content is the file as it was opened.
func (s *Sealed) Content() (io.ReaderAt, int64) { return s.file.file, s.file.sealed.size }

// IsPacked reports whether its records are in compressed blocks.
func (s *Sealed) IsPacked() (bool, error) { return s.file.isPacked() }

// Packed writes what the file holds to another path, packed, and opens that. Whoever asked for it closes it and removes
// what is there.
func (s *Sealed) Packed(ctx context.Context, path string) (*Sealed, error) {
	p := &packer{ctx: ctx, resumed: time.Now(), hurried: true}
	packed, err := p.pack(s.file, path)
	if err != nil {
		return nil, fmt.Errorf("pack %s for its copy: %w", s.file.path, err)
	}
	if err := packed.end(store.ErrClosed); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return OpenSealed(path, s.file.first)
}

// Walk gives each record as it is stored, with the chain value after it. It checks what can be checked of the file
// alone: pages, checksums, dense sequences, the end mark of the last batch, the chain from beginning to end.
func (s *Sealed) Walk(ctx context.Context, fn func(l events.Label, stored []byte, after events.Hash) error) error {
	if err := s.file.sealed.checkBuckets(); err != nil {
		return s.file.explain(s.file.first, err)
	}
	err := s.file.chained(s.End, func(l events.Label, stored []byte, after events.Hash) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return fn(l, stored, after)
	})
	if err == nil {
		err = s.file.checkEnd(s.End)
	}
	return err
}

// Records is the hash of its records (docs/format.md). It checks what Walk checks, and calls also for each record; nil
// for no call.
func (s *Sealed) Records(ctx context.Context, also func(l events.Label, after events.Hash) error) (events.Hash, error) {
	sum := newRecordSum(s.Before.Hash)
	err := s.Walk(ctx, func(l events.Label, stored []byte, after events.Hash) error {
		sum.add(stored)
		if also == nil {
			return nil
		}
		return also(l, after)
	})
	return sum.end(s.End.Hash), err
}

// Close releases the file.
func (s *Sealed) Close() error { return s.file.end(store.ErrClosed) }

// RecordsHash is the hash of records as that of a file: of those that are given, with the chain value before them and
// behind them.
func RecordsHash(before events.Hash, stored [][]byte, behind events.Hash) events.Hash {
	sum := newRecordSum(before)
	for _, one := range stored {
		sum.add(one)
	}
	return sum.end(behind)
}

// writtenTries is how often the beginning of a file is read that a process writes: a page may be written again
// meanwhile.
const writtenTries = 100

// OpenWritten is OpenSealed of the tail of a log that a process writes. What of the file does not change in the life of
// that process can be relied on: where it begins, and the term. Its offsets are those of a moment. Its records are not
// to be read there.
func OpenWritten(dir string, first events.Sequence) (s *Sealed, offsets map[string]events.Sequence, err error) {
	for range writtenTries {
		if s, err = OpenSealed(filepath.Join(dir, FileName(first)), first); err == nil {
			if offsets, err = s.Offsets(); err == nil {
				return s, offsets, nil
			}
			err = errors.Join(err, s.Close())
		}
		if !errors.Is(err, store.ErrCorrupt) {
			break
		}
	}
	return nil, nil, err
}
