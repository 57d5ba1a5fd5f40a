package boltlog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/boltfile"
	"github.com/jobledger/jobledger/store/internal/chunk"
)

// effects are the file operations that tests replace, so that they fail. The program itself uses the variable system.
type effects struct {
	openDB   func(path string, mode os.FileMode, options *bbolt.Options) (*bbolt.DB, error)
	allocate func(f *os.File, from, to int64) error // allocates disk blocks for the bytes [from, to) of f
	remove   func(path string) error                // removes a pruned file
}

var system = effects{openDB: bbolt.Open, allocate: disk.Allocate, remove: os.Remove}

// tail is the newest file of the log, open for writing. It belongs to the commit goroutine; the field allocated belongs
// to the holder of the mutex Log.space.
type tail struct {
	effects effects
	path    string
	first   events.Sequence // first record; 0 until the file is part of the log
	db      *bbolt.DB
	file    *os.File // the same file, used to allocate space

	head  head
	fence []byte       // the head in the file as this process wrote it last; another value means another writer
	high  atomic.Int64 // bytes of the file that are in use after the last commit
	// Bytes of the newest chunks (stored groups of records), whose pages the next commit may rewrite
	recent atomic.Int64

	allocated int64 // bytes of the file that have blocks. Guarded by Log.space
}

// errFenced is the error of a commit if another process has written the log: the newest file then has another last
// record than the one that this process wrote.
var errFenced = fmt.Errorf("%w: the head of the tail is not the one that this process wrote", store.ErrFenced)

// openTail opens a bbolt file for writing, or creates it. rotateBytes is the size at which a file is sealed, which
// determines how much memory is mapped. The pages of an existing file must have been checked, because bbolt trusts
// them.
func openTail(path string, rotateBytes int64, effects effects) (*tail, error) {
	options := &bbolt.Options{
		Timeout: time.Second,
		// Commits do not store the list of free pages, so long readers and retention stay cheap
		NoFreelistSync:  true,
		FreelistType:    bbolt.FreelistMapType, // finds a run of free pages without a search
		InitialMmapSize: int(2 * rotateBytes),  // large, as a remap would wait for all readers and block new ones
		NoStatistics:    true,                  // nothing reads the statistics
	}
	var db *bbolt.DB
	err := boltfile.Guard(func() (err error) { db, err = effects.openDB(path, 0o600, options); return err })
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	t := &tail{effects: effects, path: path, db: db}
	if t.file, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	// Measure before the disk blocks are allocated: only the used part needs blocks, and a hole behind it may stay.
	if err := errors.Join(t.measure(), t.reallocate()); err != nil {
		return nil, errors.Join(err, t.close(false))
	}
	return t, nil
}

// reallocate ensures that disk blocks are allocated for the whole existing file, because a copied file may have holes.
func (t *tail) reallocate() error {
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	size := min(info.Size(), t.high.Load()+4*allocateStep)
	if err := t.effects.allocate(t.file, 0, size); err != nil && !disk.NoSpace(err) {
		return fmt.Errorf("allocate %d bytes for %s: %w", size, t.path, err)
	} else if err == nil {
		t.allocated = size
	}
	return nil
}

func (t *tail) measure() error {
	return t.db.View(func(tx *bbolt.Tx) error { t.high.Store(tx.Size()); return nil })
}

// begin creates the buckets of a new file, writes the description b, the term (number of the writer's time) and the
// consumers' offsets, and then gives the file its final name. This makes it part of the log.
func (t *tail) begin(dir string, b begin, term uint64, offsets map[string]events.Sequence) error {
	t.head = head{Head: b.before, term: term, epoch: b.identity.Epoch}
	t.fence = t.head.encode()
	err := t.update(func(tx *bbolt.Tx) error {
		meta, err1 := tx.CreateBucket(metaBucket)
		consumers, err2 := tx.CreateBucket(offsetsBucket)
		_, err3 := tx.CreateBucket(logBucket)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		if err := putOffsets(consumers, offsets); err != nil {
			return err
		}
		return errors.Join(meta.Put(beginKey, b.encode()), meta.Put(headKey, t.fence))
	})
	if err != nil {
		return fmt.Errorf("begin %s: %w", t.path, err)
	}
	path := filepath.Join(dir, fileName(b.first, fileSuffix))
	if err := os.Rename(t.path, path); err != nil {
		return err
	}
	t.path, t.first = path, b.first
	return disk.SyncDir(dir)
}

// claim makes this process the writer of the file, by a commit with a new term (number of a writer's time). was is the
// head that the file has, needs the reader version that this process's records will need. The commit also syncs pages
// that the previous process left in the page cache, so all records that are read from then on are durable.
func (t *tail) claim(was head, needs least) error {
	t.head, t.fence = was, was.encode()
	if err := t.raise(needs); err != nil {
		return err
	}
	return t.commit(nil, head{Head: was.Head, term: was.term + 1, epoch: was.epoch}, nil)
}

// raise stores in the file the minimum reader version that this process's records need; if the file needs more
// already, it does nothing. It must come before any other write.
func (t *tail) raise(needs least) error {
	return t.update(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if meta == nil || !bytes.Equal(meta.Get(headKey), t.fence) {
			return errFenced
		}
		b, err := decodeBegin(meta.Get(beginKey))
		both := b.least.Max(needs.ReaderVersion)
		if err != nil || both == b.least.ReaderVersion {
			return err
		}
		b.least = least{both, needs.writer}
		return meta.Put(beginKey, b.encode())
	})
}

// commit stores the chunks (stored groups of records) of one commit, the head after them, and the consumers' offsets,
// in one transaction with two fdatasyncs. After an error no further commit is allowed, because it is unknown whether
// this one is stored.
func (t *tail) commit(chunks []chunk.Chunk, after head, offsets map[string]events.Sequence) error {
	fence := after.encode()
	err := t.update(func(tx *bbolt.Tx) error {
		meta, log, consumers := tx.Bucket(metaBucket), tx.Bucket(logBucket), tx.Bucket(offsetsBucket)
		if meta == nil || log == nil || consumers == nil || !bytes.Equal(meta.Get(headKey), t.fence) {
			return errFenced
		}
		// Leave pages full, because keys only ascend. bbolt does not store this value, so each transaction must set it.
		log.FillPercent = 1
		for _, c := range chunks {
			if err := log.Put(chunk.Key(c.First), c.Value); err != nil {
				return err
			}
		}
		return errors.Join(meta.Put(headKey, fence), putOffsets(consumers, offsets))
	})
	if err != nil {
		return err
	}
	t.head, t.fence = after, fence
	recent := int64(0)
	for i := max(0, len(chunks)-5); i < len(chunks); i++ {
		recent += int64(len(chunks[i].Value))
	}
	t.recent.Store(recent)
	return t.measure()
}

// update runs fn in a transaction and commits it. db.Update is not used: after a panic it reads all pages again in
// another goroutine, where a fault would end the process before the error is reported.
func (t *tail) update(fn func(*bbolt.Tx) error) error {
	return boltfile.Guard(func() error {
		tx, err := t.db.Begin(true)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // after a successful commit Rollback returns an error that means nothing
		if err := fn(tx); err != nil {
			return err
		}
		return tx.Commit()
	})
}

// close closes the file. If trim is set, it also frees the disk space that was allocated ahead.
func (t *tail) close(trim bool) error {
	err := t.db.Close()
	if trim && err == nil {
		err = t.file.Truncate(t.high.Load())
	}
	return errors.Join(err, t.file.Close())
}

// viewMeta returns a copy of the value of a key in the meta bucket. The commit goroutine may write to the file
// meanwhile.
func viewMeta(db *bbolt.DB, key []byte) (value []byte, err error) {
	err = db.View(func(tx *bbolt.Tx) error {
		value = bytes.Clone(tx.Bucket(metaBucket).Get(key))
		return nil
	})
	return value, err
}
