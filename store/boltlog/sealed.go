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

// Sealed is one file of a log that no process writes, opened by itself, for example to copy it. It keeps its content
// even if the file is packed or pruned meanwhile. It belongs to one goroutine. Use OpenSealed to create one.
type Sealed struct {
	// Begin is the beginning of the file in stored form.
	Begin []byte
	// Before is the head of the log before the file.
	Before store.Head
	// End is the head of the log after the file's last record.
	End store.Head
	// Began is the identity of the log before the file, and Identity the one at End.
	Began    events.Identity
	Identity events.Identity
	// Term is the newest term that began in the log, as of End.
	Term uint64

	file *logFile
}

// Firsts returns the first record of each file of the log in the directory, oldest first. All files but the last are
// sealed.
func Firsts(dir string) ([]events.Sequence, error) { return listFiles(dir, fileSuffix) }

// FileName returns the name of the file that begins with the record first.
func FileName(first events.Sequence) string { return fileName(first, fileSuffix) }

// Derived returns the names of the files that may exist beside that file and are derived from it.
func Derived(first events.Sequence) []string {
	return []string{fileName(first, indexSuffix), fileName(first, listSuffix)}
}

// IsDerived reports whether the file at path, an index or a list of Jobs by its name, was derived from the whole of a
// file that ends with end.
func IsDerived(path, logID string, end store.Head) bool {
	if strings.HasSuffix(path, listSuffix) {
		id, head := listEnd(path)
		return id == logID && head == end
	}
	return indexEnd(path) == end
}

// OpenSealed opens the file at path, which must begin with the record first; its name does not matter. It returns
// ErrCorrupt when the file is damaged. For a file that a process writes, it returns the state at that moment, or an
// error.
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

// First returns the first record of the file.
func (s *Sealed) First() events.Sequence { return s.file.first }

// Offsets returns the consumers' offsets that the file stores.
func (s *Sealed) Offsets() (map[string]events.Sequence, error) {
	all, err := s.file.offsets()
	if err != nil {
		return nil, s.file.explain(s.file.first, err)
	}
	return all, nil
}

// Content returns the bytes of the file as it was opened, and their number.
func (s *Sealed) Content() (io.ReaderAt, int64) { return s.file.file, s.file.sealed.Size }

// IsPacked reports whether the records are in compressed blocks.
func (s *Sealed) IsPacked() (bool, error) { return s.file.isPacked() }

// Packed writes the content of the file to path, packed, and opens the result. The caller closes it and removes the
// file at path.
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

// Walk calls fn for each record in stored form, with the chain value after it. It verifies what the file alone allows:
// pages, checksums, dense sequences, the end mark of the last batch, and the chain from beginning to end.
func (s *Sealed) Walk(ctx context.Context, fn func(l events.Label, stored []byte, after events.Hash) error) error {
	if err := s.file.sealed.CheckBuckets(bucketCount); err != nil {
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

// Records returns the hash of the file's records (docs/format.md). It verifies what Walk verifies. It calls also for
// each record, unless also is nil.
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

// RecordsHash returns the hash of Sealed.Records for the given stored records, with the chain values before and after
// them.
func RecordsHash(before events.Hash, stored [][]byte, behind events.Hash) events.Hash {
	sum := newRecordSum(before)
	for _, one := range stored {
		sum.add(one)
	}
	return sum.end(behind)
}

// writtenTries bounds the attempts to read the beginning of a file that a process writes: it may rewrite a page during
// an attempt.
const writtenTries = 100

// OpenWritten is OpenSealed for the tail of a log that a process writes. Only what does not change during the life of
// that process is reliable: the beginning of the file, and the term. The offsets are those of one moment. The caller
// must not read the records.
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
