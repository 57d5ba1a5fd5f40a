package boltlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/index"
)

// Report is what Verify found. After an error it says what is intact: the records before the bad one.
type Report struct {
	Identity events.Identity
	First    events.Sequence // the first record that is kept; greater than 1 after pruning
	Records  uint64
	Head     store.Head // after the last record that was verified
	Files    int
	Commits  uint64   // groups of batches that became durable together
	Notes    []string // what is worth knowing and no error: an index that will be made again, an unfinished commit
}

// Verify reads a whole log that nobody writes and checks all that must hold: dense sequences, checksums, the chain
// from record to record and at the end of each commit group, batch marks and one time per batch, previous pointers,
// record 1, epochs, the continuation from file to file, and that a Pruned record admits what is missing. Its error is
// ErrCorrupt with the first bad sequence, ErrHeld, or one of reading. Progress is called now and then, if not nil, with
// the bytes that are done and those there are.
func Verify(ctx context.Context, dir string, progress func(done, total int64)) (Report, error) {
	firsts, err := listFiles(dir, fileSuffix)
	if err == nil && len(firsts) == 0 {
		err = fmt.Errorf("there is no log in it: %w", fs.ErrNotExist)
	}
	if err != nil {
		return Report{}, fmt.Errorf("verify log %s: %w", dir, err)
	}
	held, err := lock(dir, false)
	if err != nil {
		return Report{}, fmt.Errorf("verify log %s: %w", dir, err)
	}
	v := &verifier{ctx: ctx, dir: dir, progress: progress, last: map[events.Stream]events.Sequence{}}
	err = v.log()
	return v.report, errors.Join(err, unlock(held, false))
}

// verifier walks a log from its first record to its last. It belongs to one call of Verify.
type verifier struct {
	ctx      context.Context
	dir      string
	progress func(done, total int64)

	report Report
	last   map[events.Stream]events.Sequence // of each stream
	sound  Report                            // as of the end of the last commit group, whose chain value agreed
	batch  *events.Header                    // the last record, when its batch goes on
	cut    events.Sequence                   // what the Pruned records admit

	done, total int64
}

func (v *verifier) log() error {
	firsts, err := listFiles(v.dir, fileSuffix) // again, now that nobody writes
	if err != nil {
		return err
	}
	for _, first := range firsts {
		if info, err := os.Stat(filepath.Join(v.dir, fileName(first, fileSuffix))); err == nil {
			v.total += info.Size()
		}
	}
	for i, first := range firsts {
		f, err := openSealed(v.dir, first)
		if err != nil {
			return explainOpen(f, err)
		}
		err = v.file(f, i, i == len(firsts)-1)
		if err = errors.Join(err, f.end(store.ErrClosed)); err != nil {
			return err
		}
	}
	if first := v.report.First; first > 1 && v.cut < first {
		return &store.CorruptError{
			Path: v.dir, At: 1, Cause: fmt.Errorf("records before %d are missing, and no Pruned record says so", first),
			Hint: "records from there on are intact",
		}
	}
	return checkClosed(v.dir, v.report.Identity, v.report.Head)
}

// file verifies one file. Its records continue the report.
func (v *verifier) file(f *logFile, i int, tail bool) error {
	b, err := f.begin()
	if err != nil {
		return f.corrupt(f.first, err)
	}
	r := &v.report
	if i == 0 {
		r.First, r.Head, r.Identity = f.first, b.before, b.identity
	}
	end, err := f.head()
	switch {
	case err != nil:
		return f.corrupt(f.first, err)
	case b.before != r.Head:
		return f.corrupt(min(f.first, r.Head.Sequence+1), fmt.Errorf("the file continues record %d, hash %s, but the one before it ends with record %d, hash %s",
			b.before.Sequence, b.before.Hash, r.Head.Sequence, r.Head.Hash))
	case b.first != b.before.Sequence+1:
		return f.corrupt(f.first, fmt.Errorf("the file begins with record %d after record %d", b.first, b.before.Sequence))
	case b.identity != r.Identity:
		return f.corrupt(f.first, fmt.Errorf("the file belongs to log %s, the one before it to %s", b.identity, r.Identity))
	}
	if err := f.sealed.checkBuckets(); err != nil {
		return f.explain(f.first, err)
	}
	x := index.New(f.first)
	v.batch, v.sound = nil, *r
	err = f.scan(end.Sequence, func(h *events.Header, stored []byte) error { return v.record(f, x, end.Sequence, h, stored) },
		func(h events.Hash) error { return v.group(f, h) })
	if err == nil {
		err = f.checkEnd(end.Head)
	}
	if err == nil && r.Head != end.Head {
		err = f.corrupt(end.Sequence, fmt.Errorf("the head of the file says time %d, hash %s, the records say %d, %s", end.Time, end.Hash, r.Head.Time, r.Head.Hash))
	}
	if err == nil && end.epoch != r.Identity.Epoch {
		err = f.corrupt(end.Sequence, fmt.Errorf("the head of the file says epoch %d, the records say %d", end.epoch, r.Identity.Epoch))
	}
	if err != nil {
		return err
	}
	if _, err := f.offsets(); err != nil {
		return f.corrupt(end.Sequence, err)
	}
	r.Files++
	v.done += f.sealed.size
	v.tell(0)
	v.notes(f, x, end.Head, tail)
	return nil
}

// record checks one record, and that it continues what came before.
func (v *verifier) record(f *logFile, x *index.Index, last events.Sequence, h *events.Header, stored []byte) error {
	bad := func(format string, args ...any) error { return f.corrupt(h.Sequence, fmt.Errorf(format, args...)) }
	rec, err := events.DecodeRecord(stored)
	if err != nil {
		return f.corrupt(h.Sequence, err)
	}
	if before := v.batch; before != nil && before.Time != h.Time {
		return bad("its time is %d, that of its batch %d", h.Time, before.Time)
	}
	if previous, seen := v.last[h.Stream]; h.Previous != previous && (seen || h.Previous >= v.report.First) {
		return bad("its previous pointer says %d, the last record of %s is %d", h.Previous, h.Stream, previous)
	}
	r := &v.report
	if rec.Sequence > 1 || r.First == 1 {
		if r.Identity, err = store.NextIdentity(r.Identity, &rec); err != nil {
			return f.corrupt(h.Sequence, err)
		}
	}
	hash, err := r.Head.Hash.Next(stored)
	if err != nil {
		return f.corrupt(h.Sequence, err)
	}
	if p, ok := rec.Facts.(*events.Pruned); ok {
		v.cut = max(v.cut, p.First)
	}
	name, err := nameOf(h, stored)
	if err != nil {
		return f.corrupt(h.Sequence, err)
	}
	x.Add(h, name)
	v.last[h.Stream] = h.Sequence
	if v.batch = h; h.Last {
		v.batch = nil
	}
	r.Head = store.Head{Sequence: h.Sequence, Time: h.Time, Hash: hash}
	if r.Records++; r.Records%(1<<16) == 0 {
		v.tell(int64(float64(f.sealed.size) * float64(h.Sequence-f.first) / float64(last-f.first+1)))
		return v.ctx.Err()
	}
	return nil
}

// group checks the chain value at the end of a commit group, which also ends a batch. When it does not agree, nothing
// tells which of the group's records is wrong, so none of them is intact.
func (v *verifier) group(f *logFile, stored events.Hash) error {
	r := v.report
	switch {
	case stored != r.Head.Hash:
		v.report = v.sound
		return f.corrupt(v.sound.Head.Sequence+1, fmt.Errorf("the chain value behind record %d is %s, the records give %s", r.Head.Sequence, stored, r.Head.Hash))
	case v.batch != nil:
		return f.corrupt(r.Head.Sequence, errors.New("its batch goes on behind the end of its commit"))
	}
	v.report.Commits++
	v.sound = v.report
	return nil
}

func (v *verifier) tell(within int64) {
	if v.progress != nil {
		v.progress(v.done+within, v.total)
	}
}

// notes looks at what can be made again or may be as it is.
func (v *verifier) notes(f *logFile, x *index.Index, end store.Head, tail bool) {
	note := func(format string, args ...any) {
		v.report.Notes = append(v.report.Notes, fmt.Sprintf(format, args...))
	}
	if f.sealed.torn {
		note("%s: one of the two meta pages is not valid: a commit after record %d did not end, or the page is damaged", f.path, end.Sequence)
	}
	if tail {
		return
	}
	content, err := os.ReadFile(f.indexPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		note("%s: there is no stored index; it is made when it is needed", f.path)
	case err != nil:
		note("%s: the stored index cannot be read: %v", f.path, err)
	case !bytes.Equal(content, encodeIndex(x, end)):
		note("%s: the stored index is not that of the records; remove %s", f.path, f.indexPath())
	}
}
