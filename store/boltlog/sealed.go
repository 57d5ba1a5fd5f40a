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

// Sealed is one file of a log that no process writes, opened without the rest of the log, for example to copy it. Its
// content stays the same even if the file is packed or pruned meanwhile. It belongs to one goroutine. Use OpenSealed to
// create one.
type Sealed struct {
	// Begin is the description at the beginning of the file, in stored form.
	Begin []byte
	// Before is the head of the log (last record, its chain hash and time) before the file.
	Before store.Head
	// End is the head of the log (last record, its chain hash and time) at the end of the file.
	End store.Head
	// Began is the identity of the log (its ID and epoch) before the file, and Identity the one at End.
	Began    events.Identity
	Identity events.Identity
	// Term is the newest term (time of one process as the writer) that began in the log up to End.
	Term uint64

	file *logFile
}

// Firsts returns the first record of each log file in the directory, oldest first. All files but the last are sealed.
func Firsts(dir string) ([]events.Sequence, error) { return listFiles(dir, fileSuffix) }

// FileName returns the name of the log file that begins with record first.
func FileName(first events.Sequence) string { return fileName(first, fileSuffix) }

// Derived returns the names of files that are made from the log file that begins with record first: its index, and its
// list of Jobs. They need not exist.
func Derived(first events.Sequence) []string {
	return []string{fileName(first, indexSuffix), fileName(first, listSuffix)}
}

// IsDerived reports whether the file at path was made from a complete file of log logID that ends with record end. By
// its name it is an index, or a .jobs file (index of the Jobs in a log file).
func IsDerived(path, logID string, end store.Head) bool {
	if strings.HasSuffix(path, listSuffix) {
		id, head := listEnd(path)
		return id == logID && head == end
	}
	return indexEnd(path) == end
}

// OpenSealed opens the log file at path, which must begin with record first; its name does not matter. It returns
// ErrCorrupt if the file is damaged. If a process writes the file, the result is its state at this moment, or an error.
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

// Offsets returns up to which record each consumer had read the log, as the file stores it.
func (s *Sealed) Offsets() (map[string]events.Sequence, error) {
	all, err := s.file.offsets()
	if err != nil {
		return nil, s.file.explain(s.file.first, err)
	}
	return all, nil
}

// Content returns the bytes of the file as it was when opened, and their number.
func (s *Sealed) Content() (io.ReaderAt, int64) { return s.file.file, s.file.sealed.Size }

// IsPacked reports whether the file's records are in compressed blocks.
func (s *Sealed) IsPacked() (bool, error) { return s.file.isPacked() }

// Packed writes a packed (compressed) copy of the file to path, and opens it. The caller must close the copy and remove
// the file at path.
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

// Walk calls fn for each record in stored form, with the chain value (hash over all records so far) after it. It
// verifies all that the file alone allows: pages, checksums, sequences without gaps, the end mark of the last batch,
// and the chain from beginning to end.
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

// Records returns a hash over all stored records of the file, which is the same for a plain and a packed (compressed)
// file (docs/format.md). It verifies the same as Walk. If `also` is not nil, it is called for each record.
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

// RecordsHash computes from stored records the hash that Sealed.Records returns for a file with them. before and behind
// are the chain values (hash over all records so far) before and after them.
func RecordsHash(before events.Hash, stored [][]byte, behind events.Hash) events.Hash {
	sum := newRecordSum(before)
	for _, one := range stored {
		sum.add(one)
	}
	return sum.end(behind)
}

// writtenTries limits the attempts to read the beginning of a file that a process writes, because the process may
// rewrite a page during an attempt.
const writtenTries = 100

// OpenWritten opens the newest file of a log that a process writes, which begins with record first. Reliable are only
// the beginning of the file and the term, which do not change while that process lives, and the offsets (up to which
// record each consumer has read), which are those of one moment. The caller must not read the records.
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
