package boltlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"go.etcd.io/bbolt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/boltfile"
	"github.com/jobledger/jobledger/store/internal/chunk"
	"github.com/jobledger/jobledger/store/internal/index"
	"github.com/jobledger/jobledger/store/internal/streamindex"
	"github.com/jobledger/jobledger/store/regular"
)

const (
	fileSuffix     = ".db"
	indexSuffix    = ".idx"
	snapshotSuffix = ".snap"
	listSuffix     = ".jobs" // the .jobs file, an index of the Jobs in one log file; written by package joblist
)

func fileName(first events.Sequence, suffix string) string {
	return fmt.Sprintf("%020d%s", uint64(first), suffix)
}

// logFile is one file of the log, for readers. The newest file is read through bbolt while it is written; a sealed file
// is read page by page. It is safe for concurrent use.
type logFile struct {
	path  string
	first events.Sequence

	mu     sync.RWMutex // held for reading by readers, for writing while the file is sealed, replaced or closed
	db     *bbolt.DB    // set while this is the newest file, which is still written
	file   *os.File     // set once the file is sealed
	sealed *boltfile.Pages
	ended  error // why the file can no longer be read; nil if it can
	// replaced: the file was packed (rewritten in compressed form) after it was opened. A chunk (stored group of
	// records) of the packed file may begin before the record at which a reader continues.
	replaced atomic.Bool
	// condemned: the file is to be deleted, and a Pruned record with its size is about to be written. So the file must
	// not be packed (compressed) any more. Guarded by mu.
	condemned bool
	// follows is the first record of the next file; 0 when there is none or it is unknown.
	follows atomic.Uint64

	// The fields below are for readers of a log that may be damaged. They are fixed at the open.
	// last record, if it is known and another file follows; otherwise 0
	until events.Sequence
	// head (last record) of this file, taken from the next file because this file's own is unreadable
	told *head
	// what is wrong between the previous file and this one; nil if nothing is
	seam error
	// returns an error if a process has written to the file since it was opened; nil if no process can write it
	disturbed func() error

	indexMu    sync.Mutex
	memory     *index.Index       // index of the newest file, or of a sealed file until its index is on disk
	holed      error              // set if memory was built from a damaged file: says which records it lacks
	stored     *streamindex.Index // index on disk of a sealed file; opened at the first query
	distrusted bool               // a block of the index on disk is damaged
}

// openSealed opens a sealed file, that is, one that is no longer written.
func openSealed(dir string, first events.Sequence) (*logFile, error) {
	f := &logFile{path: filepath.Join(dir, fileName(first, fileSuffix)), first: first}
	return f, f.openPages()
}

func (f *logFile) openPages() error {
	file, err := regular.Open(f.path)
	if err != nil {
		return err
	}
	p, err := boltfile.Open(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.sealed = file, p
	return nil
}

// end closes the file and its index. Later reads of the file return the error reason.
func (f *logFile) end(reason error) error {
	return errors.Join(f.endRecords(reason), f.closeIndex())
}

func (f *logFile) endRecords(reason error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended != nil {
		return nil
	}
	f.ended, f.db = reason, nil
	if f.file != nil {
		return f.file.Close()
	}
	return nil
}

// closeIndex closes the index on disk. Later queries fail, because the file is closed.
func (f *logFile) closeIndex() error {
	f.indexMu.Lock()
	defer f.indexMu.Unlock()
	if f.stored == nil {
		return nil
	}
	x := f.stored
	f.stored = nil
	return x.Close()
}

// begin reads the description that is stored at the beginning of a file: the log's identity (ID and epoch), the head
// before the file, the reader version it needs. The file must be sealed (no longer written).
func (f *logFile) begin() (begin, error) {
	v, err := f.meta(beginKey)
	if err != nil {
		return begin{}, err
	}
	b, err := decodeBegin(v)
	if err == nil && b.first != f.first {
		err = fmt.Errorf("the file says that it begins with record %d", b.first)
	}
	return b, err
}

func (f *logFile) meta(key []byte) ([]byte, error) {
	t, err := f.sealed.Bucket(metaBucket)
	if err != nil {
		return nil, err
	}
	return t.Get(key)
}

// offsets returns, for each consumer (a reader that follows the log), up to which record it had read when the file was
// last written. The file must be sealed (no longer written).
func (f *logFile) offsets() (map[string]events.Sequence, error) {
	t, err := f.sealed.Bucket(offsetsBucket)
	if err != nil {
		return nil, err
	}
	all := map[string]events.Sequence{}
	c := t.Cursor()
	k, v, err := c.Floor(nil)
	for ; err == nil && k != nil; k, v, err = c.Next() {
		if all[string(k)], err = decodeOffset(v); err != nil {
			return nil, err
		}
	}
	return all, err
}

// chunkCursor iterates over the chunks (stored groups of records) of a file in the order of their keys. Floor returns
// the last chunk at or before a key.
type chunkCursor interface {
	Floor(key []byte) (k, v []byte, err error)
	Next() (k, v []byte, err error)
}

// walk calls fn with a cursor over the chunks (stored groups of records) of the file. The cursor's values are valid
// until fn returns. fn must be fast, because an open bbolt transaction makes the newest file grow.
func (f *logFile) walk(fn func(chunkCursor) error) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	switch {
	case f.ended != nil:
		return f.ended
	case f.db != nil:
		return boltfile.Guard(func() error {
			return f.db.View(func(tx *bbolt.Tx) error { return fn(&boltCursor{tx.Bucket(logBucket).Cursor()}) })
		})
	}
	t, err := f.sealed.Bucket(logBucket)
	if err != nil {
		return err
	}
	return fn(t.Cursor())
}

type boltCursor struct{ *bbolt.Cursor }

func (c *boltCursor) Floor(key []byte) (k, v []byte, err error) {
	k, v = c.Seek(key)
	switch {
	case k == nil:
		k, v = c.Last()
	case !bytes.Equal(k, key):
		if k, v = c.Prev(); k == nil {
			k, v = c.First()
		}
	}
	return k, v, nil
}

func (c *boltCursor) Next() (k, v []byte, err error) {
	k, v = c.Cursor.Next()
	return k, v, nil
}

// chunks returns copies of the chunks (stored groups of records) that contain records [from, through], decompressed. It
// returns as many as fit into size bytes, but at least one. after is the first record behind these chunks, or through+1
// if they contain all. On an error it also returns the chunks before the damaged one.
func (f *logFile) chunks(from, through events.Sequence, size int) (out []chunk.Chunk, after events.Sequence, err error) {
	after = through + 1
	err = f.walk(func(c chunkCursor) error {
		k, v, err := c.Floor(chunk.Key(from))
		for ; err == nil && k != nil; k, v, err = c.Next() {
			first, err := chunk.Sequence(k)
			if err != nil {
				return err
			}
			if first > through || len(out) > 0 && size < len(v) {
				after = min(first, after)
				return nil
			}
			c, err := chunk.Chunk{First: first, Value: v}.Unpacked()
			if err != nil {
				return err
			}
			size -= len(c.Value)
			out = append(out, c)
		}
		return err
	})
	return out, after, err
}

// corrupt returns a CorruptError for record `at`. The error also names the first record of the next file, because that
// file can be read without this one.
func (f *logFile) corrupt(at events.Sequence, cause error) error {
	err := corruptAt(f.path, at, cause)
	next := events.Sequence(f.follows.Load())
	if bad, made := err.(*store.CorruptError); made && bad.Path == f.path && bad.Next == 0 && next > at { //nolint:errorlint // just made
		goesOn(bad, next)
	}
	return err
}

// goesOn adds to bad the record `next` from which the log can be read again after the damage: the first record of the
// next file.
func goesOn(bad *store.CorruptError, next events.Sequence) {
	bad.Next = next
	bad.Hint += fmt.Sprintf("; those from %d on can be read: --from %d", next, next)
}

func corruptAt(path string, at events.Sequence, cause error) error {
	var already *store.CorruptError
	if errors.As(cause, &already) || events.OtherReader(cause) {
		return cause
	}
	hint := "run 'jobledger verify'"
	if at > 1 {
		hint += fmt.Sprintf("; records before %d are intact as far as they were read", at)
	}
	return &store.CorruptError{Path: path, At: at, Cause: cause, Hint: hint}
}

// damaged reports whether err says that a file has bad content. It is false for failed or cancelled reads, and for logs
// that need a newer program.
func damaged(err error) bool {
	var path *fs.PathError
	var errno syscall.Errno
	return !errors.As(err, &path) && !errors.As(err, &errno) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) &&
		!errors.Is(err, store.ErrClosed) && !errors.Is(err, store.ErrPruned) && !events.OtherReader(err)
}
