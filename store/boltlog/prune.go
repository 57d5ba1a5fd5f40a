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
	"github.com/jobledger/jobledger/store/regular"
)

// Files are deleted oldest first, one at a time, and only after a record of that is durable (Pruned). So a crash at any
// moment leaves a log that begins with a whole file and that admits what is missing. Deletions that a crash interrupted
// are finished by the next open. A file that cannot be removed is the log's no longer: no later one goes in its place.
// It is tried again, before any other, with each prune. The file PRUNING names the Pruned record meanwhile, so that it
// is not the log's again after a start.

// pruningName is a file beside the log while pruned files cannot be removed: the sequence of the newest Pruned record,
// sealed.
const pruningName = "PRUNING"

// Prunable is the first sequence that Prune(before) would keep: the beginning of the file that holds before, or of the
// tail. It is what the Pruned record says that the caller appends first.
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

// noteCut takes notice of Pruned records that are appended. The caller holds mu.
func (l *Log) noteCut(b events.Batch) {
	for i := range b.Records {
		if p, ok := b.Records[i].Facts.(*events.Pruned); ok {
			l.cut, l.cutAt = max(l.cut, p.First), b.Records[i].Sequence
		}
	}
}

// Prune is described by store.Opened.
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

// admits says why the files before that record may not be deleted yet; nil when they may.
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
			return errors.Join(errs...) // the others wait, so that there is no hole
		}
		l.leaving = l.leaving[1:]
		l.leavingBytes.Add(-f.bytes)
		if err := l.deleteDerived(f.first); err != nil {
			errs = append(errs, fmt.Errorf("prune %s: %w", f.path, err))
		}
		if err := syncDir(l.dir); err != nil { // before the next goes: a power cut may undo deletions in any order, and must leave no hole
			return errors.Join(append(errs, fmt.Errorf("prune %s: %w", f.path, err))...)
		}
	}
	return errors.Join(append(errs, l.forgetLeaving())...)
}

// noteLeaving notes for the next start that pruned files stay for now. The caller holds pruning.
func (l *Log) noteLeaving() error {
	l.mu.Lock()
	at := l.cutAt
	l.mu.Unlock()
	if at == 0 || at == l.notedAt {
		return nil
	}
	if err := writeFile(filepath.Join(l.dir, pruningName), encodeOffset(at)); err != nil {
		return fmt.Errorf("note that it is pruned: %w", err)
	}
	l.notedAt = at
	return nil
}

// forgetLeaving removes the note when nothing that is pruned is left. The caller holds pruning.
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

// notedCut finds the Pruned record that the note names. One that is damaged, or names another record, says nothing.
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

// mostNote is more bytes than the note has.
const mostNote = 64

// learnCut takes notice of a durable Pruned record, while the log is opened.
func (l *Log) learnCut(at events.Sequence, p *events.Pruned) {
	if p.First > l.cut || at > l.cutAt && p.First == l.cut {
		l.cut, l.cutAt = p.First, at
	}
}

// condemned takes the files before that record off the view, behind those that could not be removed before. Their
// readers get ErrPruned.
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

// sizeOf is the size of a file as [logReader.Usage] counts it.
func sizeOf(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// leavingFile is a file that is pruned, and yet to be removed.
type leavingFile struct {
	path  string
	first events.Sequence
	bytes int64
}

// deleteDerived removes what was derived from the file that begins with that record.
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

// derivedFrom reports whether a file beside the log belongs to the file that begins with that record, and to it alone.
// The name of a snapshot is the record that it is as of.
func derivedFrom(name string, first events.Sequence) bool {
	digits := strings.TrimSuffix(fileName(first, fileSuffix), fileSuffix)
	suffix, ok := strings.CutPrefix(name, digits)
	return ok && suffix != snapshotSuffix && !strings.HasSuffix(suffix, tempSuffix) // whoever writes that one removes it
}

// deleteSnapshots removes those of records that are no longer kept: nothing can be folded onto them.
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

// finishPruning deletes the files that a durable Pruned record says are no longer kept: a crash came between, or they
// could not be deleted. The record is in one of the two newest files, or the note names it; of an older one nothing is
// known here, and the files stay until they are pruned again.
func (l *Log) finishPruning() error {
	s := l.mustView()
	for i := len(s.files) - 1; l.cut <= s.files[0].first && i >= 0 && i >= len(s.files)-2; i-- {
		if err := s.prunedIn(context.Background(), i, l.learnCut); err != nil {
			return nil //nolint:nilerr // who reads the file hears of it
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

// prunedIn gives the Pruned records of one file. A hole before the file does not matter.
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

// Condemn is described by store.Opened.
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
	if r, _, err := s.one(p.From, nearChunk{}); err == nil { // else the file is damaged, and goes all the same
		p.FromTime = r.Time
	}
	if end, err := newest.sealedHead(); err == nil { // likewise
		p.ThroughTime = end.Time
	}
	return p, nil
}

// condemn is what a Pruned record says of the file. A file that is damaged has no hash there, as its records cannot all
// be read: it goes all the same. From here on the file is not packed, so its size stays the one that the record names.
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
