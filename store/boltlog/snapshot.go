package boltlog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/boltfile"
	"github.com/jobledger/jobledger/store/internal/chunk"
	"github.com/jobledger/jobledger/store/internal/fields"
	"github.com/jobledger/jobledger/store/regular"
)

// A snapshot has its own file: 1 byte version and the minimum reader version (as at the beginning of a log file),
// identity, head, number of streams; for each stream its name, the last record that its state includes, state and
// names; then a CRC-32C. Texts are uvarint length and bytes, numbers are uvarints.

const snapshotsKept = 2 // the newest, and the previous one in case the newest is damaged

func encodeSnapshot(s store.Snapshot, needs least) []byte {
	v := fields.AppendText(appendLeast([]byte{beginVersion}, needs), s.Identity.LogID)
	v = binary.AppendUvarint(v, s.Identity.Epoch)
	v = fields.AppendHead(v, s.Head)
	v = binary.AppendUvarint(v, uint64(len(s.Streams)))
	for _, st := range s.Streams {
		v = binary.AppendUvarint(fields.AppendStream(v, st.Stream), uint64(st.AsOf))
		v = fields.AppendText(fields.AppendText(v, string(st.State)), string(st.Names))
	}
	return fields.Seal(v)
}

func decodeSnapshot(sealed []byte, own events.ReaderVersion) (store.Snapshot, error) {
	d, needs, err := newBeginning(sealed)
	if err == nil {
		err = needs.check(own)
	}
	if errors.Is(err, events.ErrBefore) {
		err = &events.BeforeError{What: "this snapshot", Do: "remove the file, which costs no record"}
	}
	if err != nil {
		return store.Snapshot{}, err
	}
	var s store.Snapshot
	s.Identity.LogID = d.Text()
	s.Identity.Epoch = d.Uvarint()
	s.Head = d.Head()
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		st := store.StreamSnapshot{Stream: d.Stream(), AsOf: events.Sequence(d.Uvarint())}
		st.State, st.Names = blob(d), blob(d)
		s.Streams = append(s.Streams, st)
	}
	return s, d.End("decode snapshot")
}

func blob(d *fields.Decoder) []byte {
	if b := d.Bytes(int(d.Uvarint())); len(b) > 0 {
		return b
	}
	return nil
}

// SaveSnapshot implements store.Log: it stores s durably in a file, and removes all but the snapshotsKept newest
// snapshots. If s is too large for MaxBytes, it removes all snapshots and saves nothing.
func (l *Log) SaveSnapshot(_ context.Context, s store.Snapshot) error {
	l.mu.Lock()
	err := l.queue.Ended()
	l.mu.Unlock()
	if err != nil {
		return err
	}
	if err := l.holds(s); err != nil {
		return fmt.Errorf("save snapshot of record %d: %w", s.Head.Sequence, err)
	}
	path := filepath.Join(l.dir, fileName(s.Head.Sequence, snapshotSuffix))
	encoded := encodeSnapshot(s, leastOf(&l.options))
	if most := l.options.MaxBytes / snapshotShare; most > 0 && int64(len(encoded)) > most {
		// If the snapshot is too large, delete all: the next start then begins at the newest file that is readable by
		// itself.
		return l.keepSnapshots(0)
	}
	if err := disk.WriteFile(path, encoded); err != nil {
		if disk.NoSpace(err) {
			err = errors.Join(store.ErrNoRoom, err)
		}
		return fmt.Errorf("save snapshot of record %d: %w", s.Head.Sequence, err)
	}
	return l.keepSnapshots(snapshotsKept)
}

// keepSnapshots removes all snapshots except the n newest ones.
func (l *Log) keepSnapshots(n int) error {
	all, err := listFiles(l.dir, snapshotSuffix)
	if err != nil {
		return err
	}
	for _, old := range all[:max(0, len(all)-n)] {
		if err := os.Remove(filepath.Join(l.dir, fileName(old, snapshotSuffix))); err != nil {
			return fmt.Errorf("remove an old snapshot: %w", err)
		}
	}
	return nil
}

// LoadSnapshot implements store.Reader: it returns the newest intact snapshot (stored state of all streams) of this
// log; false if there is none. Others are ignored with a message to the logger.
func (l *Log) LoadSnapshot(context.Context) (store.Snapshot, bool, error) {
	return l.loadSnapshot(l.options.Logger)
}

func (l *logReader) loadSnapshot(logger *slog.Logger) (store.Snapshot, bool, error) {
	if _, err := l.view(); err != nil {
		return store.Snapshot{}, false, err
	}
	all, err := listFiles(l.dir, snapshotSuffix)
	if err != nil {
		return store.Snapshot{}, false, fmt.Errorf("load snapshot: %w", err)
	}
	for _, at := range slices.Backward(all) {
		path := filepath.Join(l.dir, fileName(at, snapshotSuffix))
		s, err := readSnapshot(path, l.reader)
		if err == nil {
			err = l.holds(s)
		}
		if err == nil {
			return s, true, nil
		}
		if events.OtherReader(err) {
			return store.Snapshot{}, false, fmt.Errorf("load snapshot %s: %w", path, err)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			logger.Warn("a snapshot is ignored", slog.String("file", path), slog.Any("error", err))
		}
	}
	return store.Snapshot{}, false, nil
}

func readSnapshot(path string, own events.ReaderVersion) (store.Snapshot, error) {
	most, err := mostSnapshot(filepath.Dir(path))
	if err != nil {
		return store.Snapshot{}, err
	}
	content, err := regular.Read(path, most)
	if err != nil {
		return store.Snapshot{}, err
	}
	return decodeSnapshot(content, own)
}

// mostSnapshot returns an upper bound for the size of a snapshot in dir, computed from the sizes of the log's files. It
// holds because the newest self-contained file (readable without older files) has all states, too, compressed to 1/32
// at best. Example: a log of 10 MB has no snapshot larger than 384 MB: 64 MB plus 32 times 10 MB.
func mostSnapshot(dir string) (int64, error) {
	const packed, least = 32, 64 << 20
	firsts, err := listFiles(dir, fileSuffix)
	most := int64(least)
	for _, first := range firsts {
		if info, err := os.Lstat(filepath.Join(dir, fileName(first, fileSuffix))); err == nil && info.Mode().IsRegular() {
			most += packed * info.Size()
		}
	}
	return most, err
}

// holds returns an error unless s is a snapshot of this log, and the record at its head is durable and has the same
// chain hash.
func (l *logReader) holds(s store.Snapshot) error {
	if id := l.Identity(); s.Identity != id {
		return fmt.Errorf("it belongs to log %s, this is %s", s.Identity, id)
	}
	view, err := l.view()
	if err != nil {
		return err
	}
	if s.Head == view.durable && s.Head.Sequence > 0 {
		return nil
	}
	hash, err := view.hash(s.Head.Sequence)
	if err == nil && hash != s.Head.Hash {
		err = fmt.Errorf("the chain value there is %s, not %s", hash, s.Head.Hash)
	}
	return err
}

// Chain implements store.Reader: it returns the chain value (hash over all records so far) after record `at`; zero for
// record 0.
func (l *logReader) Chain(at events.Sequence) (events.Hash, error) {
	if at == 0 {
		return events.Hash{}, nil
	}
	s, err := l.view()
	if err != nil {
		return events.Hash{}, err
	}
	return s.hash(at)
}

// hash returns the chain value (hash over all records so far) after record `at`. Files store it for the end of each
// commit group (the records of one commit); for other records it is computed from the beginning of the group. For the
// last pruned record, the oldest file stores it at its beginning.
func (s view) hash(at events.Sequence) (events.Hash, error) {
	if at == 0 || at > s.durable.Sequence {
		return events.Hash{}, fmt.Errorf("record %d is not in the durable log", at)
	}
	f, _ := s.file(at)
	if f == nil && at+1 == s.files[0].first {
		return s.files[0].hashBefore()
	}
	if f == nil {
		return events.Hash{}, pruned(at)
	}
	hash, err := f.hashAt(at)
	if err != nil {
		return events.Hash{}, f.explain(at, err)
	}
	return hash, nil
}

// hashAt returns the chain value (hash over all records so far) after record `at`, which must be in this file.
func (f *logFile) hashAt(at events.Sequence) (events.Hash, error) {
	group, hash, err := f.groupAt(at)
	for _, c := range group {
		if err == nil {
			hash, err = chainThrough(c, hash, at)
		}
	}
	return hash, err
}

// groupAt returns the chunks (stored groups of records) of the commit that wrote record `at`, up to the chunk with that
// record. before is the chain value (hash over all records so far) before them.
func (f *logFile) groupAt(at events.Sequence) (group []chunk.Chunk, before events.Hash, err error) {
	for {
		was := f.replaced.Load()
		if group, before, err = f.groupThrough(at); f.replaced.Load() == was {
			return group, before, err
		}
	}
}

func (f *logFile) groupThrough(at events.Sequence) (group []chunk.Chunk, before events.Hash, err error) {
	for next := at; ; next = group[0].First - 1 {
		if next < f.first {
			before, err = f.hashBefore()
			break
		}
		var found []chunk.Chunk
		if found, _, err = f.chunks(next, next, 0); err != nil {
			break
		}
		if len(found) == 0 || found[0].First > next {
			err = fmt.Errorf("%w: record %d is missing", boltfile.ErrPage, next)
			break
		}
		r, bad := found[0].Reader()
		if bad != nil {
			err = bad
			break
		}
		if r.Hash != nil && len(group) > 0 {
			before = *r.Hash
			break
		}
		group = append(found[:1:1], group...)
	}
	return group, before, err
}

// hashBefore returns the chain value (hash over all records so far) before the file's first record.
func (f *logFile) hashBefore() (h events.Hash, err error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var v []byte
	switch {
	case f.ended != nil:
		return h, f.ended
	case f.db != nil:
		err = boltfile.Guard(func() error { v, err = viewMeta(f.db, beginKey); return err })
	default:
		v, err = f.meta(beginKey)
	}
	if err != nil {
		return h, err
	}
	b, err := decodeBegin(v)
	return b.before.Hash, err
}

// chainThrough returns the chain value (hash over all records so far) after record through, which is in chunk c. h is
// the chain value before the chunk.
func chainThrough(c chunk.Chunk, h events.Hash, through events.Sequence) (events.Hash, error) {
	r, err := c.Reader()
	for err == nil && r.Next <= through {
		stored, ok, bad := r.Record()
		if !ok {
			return h, bad
		}
		h, err = h.Next(stored)
	}
	return h, err
}
