package boltlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/regular"
)

// Prune deletes files oldest first, one at a time, after a Pruned record that names them is durable. So after a crash
// at any moment the log begins with a whole file, and a record says why earlier ones are missing. The next open deletes
// the remaining ones.
//
// If a file cannot be removed, it no longer belongs to the log all the same. Later files are not removed before it, and
// each Prune first tries it again. Meanwhile the file PRUNING names the Pruned record, so that after a restart the file
// still does not belong to the log.

// pruningName is the name of a file that exists while pruned files cannot be removed. Its content is the sequence of
// the newest Pruned record, with a checksum.
const pruningName = "PRUNING"

// Prunable returns the first record that would be kept by Prune(before): the first record of the file that contains
// record `before`, or of the newest file if that comes earlier. Before Prune, the caller must append a Pruned record
// with this record as its First.
func (l *Log) Prunable(before events.Sequence) (events.Sequence, error) {
	s, err := l.view()
	if err != nil {
		return 0, err
	}
	return s.prunable(before), nil
}

func (s view) prunable(before events.Sequence) events.Sequence {
	keep := s.files[0].first
	for _, f := range s.files {
		if f.first <= before {
			keep = f.first
		}
	}
	return keep
}

// noteCut remembers in l.cut the Pruned records (which say that older files may be deleted) among the appended ones.
// The caller holds mu.
func (l *Log) noteCut(b events.Batch) {
	for i := range b.Records {
		if p, ok := b.Records[i].Facts.(*events.Pruned); ok {
			l.cut, l.cutAt = max(l.cut, p.First), b.Records[i].Sequence
		}
	}
}

// Prune implements store.Pruner: it deletes the files that only have records before `before`, and returns the first
// record that is kept.
func (l *Log) Prune(ctx context.Context, before events.Sequence) (events.Sequence, error) {
	keep, err := l.Prunable(before)
	if err != nil {
		return 0, err
	}
	if err := l.admits(keep); err != nil {
		return l.First(), fmt.Errorf("prune records before %d: %w", keep, err)
	}
	ctx, done, err := l.beside(ctx)
	if err != nil {
		return l.First(), err
	}
	defer done()
	if err := l.deleteBefore(ctx, keep); err != nil {
		return l.First(), err
	}
	return l.First(), l.deleteSnapshots()
}

// admits returns an error unless a durable Pruned record says that the files before record keep may be deleted.
func (l *Log) admits(keep events.Sequence) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case keep > l.cut && keep > l.files[0].first:
		return fmt.Errorf("no durable Pruned record says so; the newest is for %d", l.cut)
	case l.cutAt > l.durable.Sequence:
		return fmt.Errorf("the Pruned record %d is not durable yet", l.cutAt)
	}
	return nil
}

func (l *Log) deleteBefore(ctx context.Context, keep events.Sequence) error {
	l.pruning.Lock()
	defer l.pruning.Unlock()
	errs := []error{l.condemned(keep)}
	for len(l.leaving) > 0 {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(errs, err)...)
		}
		f := l.leaving[0]
		if err := l.effects.remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("prune %s: %w", f.path, err), l.noteLeaving())
			// Do not delete the later files: records would be missing between this file and the rest of the log.
			return errors.Join(errs...)
		}
		l.leaving = l.leaving[1:]
		l.leavingBytes.Add(-f.bytes)
		if err := l.deleteDerived(f.first); err != nil {
			errs = append(errs, fmt.Errorf("prune %s: %w", f.path, err))
		}
		// Make each deletion durable before the next one. Otherwise a power cut could undo this one and keep the
		// next, which would leave a hole in the log.
		if err := disk.SyncDir(l.dir); err != nil {
			return errors.Join(append(errs, fmt.Errorf("prune %s: %w", f.path, err))...)
		}
	}
	return errors.Join(append(errs, l.forgetLeaving())...)
}

// noteLeaving writes the file PRUNING with the sequence of the newest Pruned record. So the next start knows that files
// which could not be removed are no longer part of the log. The caller holds the mutex pruning.
func (l *Log) noteLeaving() error {
	l.mu.Lock()
	at := l.cutAt
	l.mu.Unlock()
	if at == 0 || at == l.notedAt {
		return nil
	}
	if err := disk.WriteFile(filepath.Join(l.dir, pruningName), encodeOffset(at)); err != nil {
		return fmt.Errorf("note that it is pruned: %w", err)
	}
	l.notedAt = at
	return nil
}

// forgetLeaving removes the file PRUNING once all pruned files are removed. The caller holds the mutex pruning.
func (l *Log) forgetLeaving() error {
	if l.notedAt == 0 {
		return nil
	}
	if err := os.Remove(filepath.Join(l.dir, pruningName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l.notedAt = 0
	return nil
}

// notedCut reads the Pruned record that the file PRUNING names, and remembers it in l.cut. If the file is damaged, or
// the named record is no Pruned record, it does nothing.
func (l *Log) notedCut(s view) {
	content, err := regular.Read(filepath.Join(l.dir, pruningName), mostNote)
	if err != nil {
		return
	}
	at, err := decodeOffset(content)
	if err != nil || at == 0 || at > s.durable.Sequence {
		return
	}
	r, _, err := s.one(at, nearChunk{})
	if p, ok := r.Facts.(*events.Pruned); err == nil && ok {
		l.notedAt = at
		l.learnCut(at, p)
	}
}

// mostNote is an upper bound for the size of the file PRUNING.
const mostNote = 64

// learnCut is called at the open for each Pruned record p (at sequence `at`) in the log, and remembers the one that
// deletes most.
func (l *Log) learnCut(at events.Sequence, p *events.Pruned) {
	if p.First > l.cut || at > l.cutAt && p.First == l.cut {
		l.cut, l.cutAt = p.First, at
	}
}

// condemned takes the files before record keep out of the log, so that reads of them fail with ErrPruned, and adds
// them to leaving, the list of files to delete.
func (l *Log) condemned(keep events.Sequence) error {
	l.mu.Lock()
	n := 0
	for l.files[n].first < keep {
		n++
	}
	gone := l.files[:n:n]
	l.files = l.files[n:len(l.files):len(l.files)]
	l.mu.Unlock()
	var errs []error
	for _, f := range gone {
		errs = append(errs, f.end(fmt.Errorf("the file is deleted: %w", store.ErrPruned)))
		left := leavingFile{path: f.path, first: f.first, bytes: sizeOf(f.path)}
		l.leaving = append(l.leaving, left)
		l.leavingBytes.Add(left.bytes)
	}
	return errors.Join(errs...)
}

// sizeOf returns the size of a file in bytes, counted as in [logReader.Usage].
func sizeOf(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// leavingFile is a file that is no longer part of the log, but still on the disk.
type leavingFile struct {
	path  string
	first events.Sequence
	bytes int64
}

// deleteDerived removes the files that were derived from the log file that begins with record first, such as its index.
func (l *Log) deleteDerived(first events.Sequence) error {
	entries, err := os.ReadDir(l.dir)
	for _, e := range entries {
		if derivedFrom(e.Name(), first) {
			if gone := os.Remove(filepath.Join(l.dir, e.Name())); !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}
	}
	return err
}

// derivedFrom reports whether the file called name was derived only from the log file that begins with record first, or
// is that file itself. It is false for snapshots: their names are similar, but name the last record that they cover.
func derivedFrom(name string, first events.Sequence) bool {
	digits := strings.TrimSuffix(fileName(first, fileSuffix), fileSuffix)
	suffix, ok := strings.CutPrefix(name, digits)
	// A temporary file does not count, because its writer removes it.
	return ok && suffix != snapshotSuffix && !strings.HasSuffix(suffix, disk.TempSuffix)
}

// deleteSnapshots removes snapshots that are useless, because the log no longer has the record after the last one that
// they include.
func (l *Log) deleteSnapshots() error {
	all, err := listFiles(l.dir, snapshotSuffix)
	errs := []error{err}
	first := l.First()
	for _, at := range all {
		if at+1 < first {
			if gone := os.Remove(filepath.Join(l.dir, fileName(at, snapshotSuffix))); !errors.Is(gone, fs.ErrNotExist) {
				errs = append(errs, gone)
			}
		}
	}
	return errors.Join(errs...)
}

// finishPruning deletes files that still exist although a durable Pruned record names them, because the process crashed
// or a deletion failed. It looks for such a record in the two newest files and in the file PRUNING. If the record is
// older, the files stay until the next Prune.
func (l *Log) finishPruning() error {
	s := l.mustView()
	for i := len(s.files) - 1; l.cut <= s.files[0].first && i >= 0 && i >= len(s.files)-2; i-- {
		if err := s.prunedIn(context.Background(), i, l.learnCut); err != nil {
			return nil //nolint:nilerr // a read of the file reports the damage
		}
	}
	l.notedCut(s)
	keep := s.prunable(l.cut)
	if l.cut == 0 || keep == s.files[0].first {
		return l.forgetLeaving()
	}
	if err := errors.Join(l.deleteBefore(context.Background(), keep), l.deleteSnapshots()); err != nil {
		l.options.Logger.Warn("what is pruned stays beside the log for now", slog.Any("error", err))
	}
	return nil
}

// prunedIn calls give for each Pruned record, with its sequence, in the i-th file of the view. Damage in earlier files
// does not matter.
func (s view) prunedIn(ctx context.Context, i int, give func(events.Sequence, *events.Pruned)) error {
	one := view{files: s.files[i : i+1], durable: s.durable}
	if i+1 < len(s.files) {
		one.durable.Sequence = s.files[i+1].first - 1
	}
	return one.forward(ctx, events.Controller, s.files[i].first, func(r events.Record) bool {
		if p, ok := r.Facts.(*events.Pruned); ok {
			give(r.Sequence, p)
		}
		return true
	})
}

// Condemn implements store.Pruner: it returns the Pruned record that must be durable before Prune may delete the files
// with only records before `before`; nil if there are none. It reads these files completely.
func (l *Log) Condemn(ctx context.Context, before events.Sequence) (*events.Pruned, error) {
	s, err := l.view()
	if err != nil {
		return nil, err
	}
	p := &events.Pruned{First: s.prunable(before)}
	last := slices.IndexFunc(s.files, func(f *logFile) bool { return f.first == p.First })
	if last == 0 {
		return nil, nil
	}
	for _, f := range s.files[:last] {
		file, err := f.condemn(ctx)
		if err != nil {
			return nil, fmt.Errorf("hash %s: %w", f.path, err)
		}
		p.Files = append(p.Files, file)
	}
	oldest, newest := s.files[0], s.files[last-1]
	p.From = oldest.first
	if p.ChainBefore, err = oldest.hashBefore(); err != nil {
		return nil, err
	}
	if p.ChainAfter, err = s.files[last].hashBefore(); err != nil {
		return nil, err
	}
	// On an error the file is damaged. It is deleted all the same; the Pruned record then lacks the time of its first
	// record.
	if r, _, err := s.one(p.From, nearChunk{}); err == nil {
		p.FromTime = r.Time
	}
	// If this fails, the record lacks the time of the last deleted record, too.
	if end, err := newest.sealedHead(); err == nil {
		p.ThroughTime = end.Time
	}
	return p, nil
}

// condemn returns what a Pruned record says about this file: first record, size, and hash of the records. If the file
// is damaged, the hash is missing. From now on the file is not packed (compressed), so that its size stays as recorded.
func (f *logFile) condemn(ctx context.Context) (events.PrunedFile, error) {
	f.mu.Lock()
	f.condemned = true
	f.mu.Unlock()
	out := events.PrunedFile{First: f.first}
	info, err := os.Lstat(f.path)
	if err != nil {
		return out, err
	}
	out.Bytes = uint64(info.Size())
	if out.Hash, err = f.recordsHash(ctx); errors.Is(err, store.ErrCorrupt) {
		return out, nil
	}
	return out, err
}
