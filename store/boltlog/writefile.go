package boltlog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/chunk"
)

// FileSpec describes the log file that WriteFile writes: its first record, the description at its beginning, and what
// was known before it.
type FileSpec struct {
	First   events.Sequence
	Begin   []byte // the description at the beginning of the file, as in Sealed.Begin
	Term    uint64 // newest term (number of a writer's time) before these records; a later one may begin in them
	Offsets map[string]events.Sequence
}

// Limits of one commit while a file is written: a group of batches is committed once it has this many bytes or records.
const (
	groupBytes   = 512 << 10
	groupRecords = 4096
)

// WriteFile writes a log file in the directory from whole batches in stored form. It returns the head and the identity
// at the end of the file. The directory must be marked as the target of a restore ([BeginRestore]), because the file
// has its final name before it is complete. When WriteFile returns, the file is durable. An offset after the last
// record is lowered to that record.
func WriteFile(ctx context.Context, dir string, spec FileSpec, stored iter.Seq2[[]byte, error]) (end store.Head, id events.Identity, err error) {
	b, err := decodeBegin(spec.Begin)
	if err != nil {
		return end, id, err
	}
	if b.first != spec.First || b.before.Sequence+1 != b.first {
		return end, id, fmt.Errorf("the beginning of the file is that of record %d, not %d", b.first, spec.First)
	}
	t, err := newTail(dir, groupBytes, system)
	if err != nil {
		return end, id, err
	}
	defer func() {
		if err = errors.Join(err, t.close(err == nil)); err != nil {
			err = errors.Join(err, os.RemoveAll(t.path))
		}
	}()
	t.db.NoSync = true // no sync for each commit; the whole file is synced once at the end
	if err := t.begin(dir, b, spec.Term, nil); err != nil {
		return end, id, err
	}
	w := &fileWriter{tail: t, end: t.head, id: b.identity}
	for one, err := range stored {
		if err == nil {
			err = errors.Join(ctx.Err(), w.add(one))
		}
		if err != nil {
			return end, id, err
		}
	}
	if err := w.finish(spec.Offsets); err != nil {
		return end, id, err
	}
	return w.end.Head, w.id, errors.Join(t.db.Sync(), disk.SyncDir(dir))
}

// fileWriter writes batches to a new log file, several in one commit. It serves one call of WriteFile.
type fileWriter struct {
	tail   *tail
	end    head // last record that was added, with its chain hash
	id     events.Identity
	chunks chunk.Writer
	bytes  int
	count  int
	open   bool // the last added record does not end its batch, so more must follow
}

func (w *fileWriter) add(stored []byte) error {
	l, err := events.DecodeLabel(stored)
	if err != nil {
		return err
	}
	if l.Sequence != w.end.Sequence+1 {
		return fmt.Errorf("record %d comes behind record %d", l.Sequence, w.end.Sequence)
	}
	switch l.Kind {
	case events.KindLogCreated, events.KindEpochChanged, events.KindTermStarted:
		if err := w.learn(l, stored); err != nil {
			return err
		}
	}
	hash, err := w.end.Hash.Next(stored)
	if err != nil {
		return err
	}
	h, err := events.DecodeHeader(stored)
	if err != nil {
		return err
	}
	w.end.Head, w.end.epoch = store.Head{Sequence: l.Sequence, Hash: hash, Time: h.Time}, w.id.Epoch
	w.chunks.Add(l.Sequence, append([]byte(nil), stored...))
	w.bytes, w.count, w.open = w.bytes+len(stored), w.count+1, !l.Last
	if l.Last && (w.bytes >= groupBytes || w.count >= groupRecords) {
		return w.commit(nil)
	}
	return nil
}

// learn updates the fields for a record that changes the log's epoch (life of the log) or term (time of a writer).
func (w *fileWriter) learn(l events.Label, stored []byte) error {
	r, err := decode(stored, l.Sequence)
	if err != nil {
		return err
	}
	if w.id, err = store.NextIdentity(w.id, &r); err != nil {
		return err
	}
	if f, ok := r.Facts.(*events.TermStarted); ok {
		w.end.term = max(w.end.term, f.Term)
	}
	return nil
}

func (w *fileWriter) commit(offsets map[string]events.Sequence) error {
	err := w.tail.commit(w.chunks.End(w.end.Hash), w.end, offsets)
	w.chunks, w.bytes, w.count = chunk.Writer{}, 0, 0
	return err
}

func (w *fileWriter) finish(offsets map[string]events.Sequence) error {
	if w.open {
		return fmt.Errorf("the batch of record %d has no end", w.end.Sequence)
	}
	clipped := map[string]events.Sequence{}
	for consumer, through := range offsets {
		clipped[consumer] = min(through, w.end.Sequence)
	}
	return w.commit(clipped)
}

// NoteLost writes into the file HEAD that the log once had the record had, which it lacks now. A controller then
// refuses the log, or continues it only in a new epoch.
func NoteLost(dir string, id events.Identity, had store.Head) error {
	return writeWitness(filepath.Join(dir, headName), id, had)
}
