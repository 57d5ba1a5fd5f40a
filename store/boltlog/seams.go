package boltlog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// To open a log for writing, each file must continue the previous one without a defect. Readers accept defects: if a
// file is unreadable, missing or from another log, they can still read the files around it. A read that reaches the
// defect ends with an error.

// found is what one log file in the directory says about itself: where it begins and ends. Parts that could not be
// read have an error.
type found struct {
	file    *logFile
	begin   begin
	head    head
	failed  error // why the beginning of the file is not usable; nil if it is usable
	noHead  error // why the end of the file is not usable; nil if it is usable
	foreign bool
}

func look(dir string, first events.Sequence) found {
	f := found{file: &logFile{path: filepath.Join(dir, fileName(first, fileSuffix)), first: first}}
	if f.failed = f.file.openPages(); f.failed != nil {
		return f
	}
	if f.begin, f.failed = f.file.begin(); f.failed == nil && f.begin.before.Sequence+1 != first {
		f.failed = fmt.Errorf("the file says that it continues record %d", f.begin.before.Sequence)
	}
	if f.failed != nil {
		return f
	}
	if f.head, f.noHead = f.file.head(); f.noHead == nil && f.head.Sequence+1 < first {
		f.noHead = fmt.Errorf("the file says that it ends with record %d", f.head.Sequence)
	}
	return f
}

// readable is a log as readers see it: its files, its end, and the damage found at the open.
type readable struct {
	files  []*logFile
	id     events.Identity
	end    store.Head
	beyond error   // why there may be records after end; nil if there are none
	damage []error // all damage, in the order of the log
}

// openReadable opens the files of a log for readers, and accepts damage as far as possible. firsts are the first
// records of the files; it is not empty. It returns an error if no file is readable, or if this program is too old for
// one.
func openReadable(dir string, firsts []events.Sequence) (readable, error) {
	var all []found
	for _, first := range firsts {
		f := look(dir, first)
		if events.OtherReader(f.failed) {
			return readable{}, f.failed
		}
		all = append(all, f)
	}
	r := readable{id: events.Identity{LogID: commonID(all)}}
	var before *found
	for i := range all {
		f := &all[i]
		if f.failed == nil && f.begin.identity.LogID != r.id.LogID {
			f.foreign = true
			f.failed = fmt.Errorf("the file belongs to log %s, the others to %s: %w", f.begin.identity.LogID, r.id.LogID, store.ErrForeign)
		}
		if f.failed != nil && stray(before, f, all[i+1:]) {
			r.damage = append(r.damage, &store.CorruptError{Path: f.file.path, At: f.file.first, Cause: f.failed,
				Hint: "it is not part of the log; the records of that range are in another file: move it away"})
			_ = f.file.end(f.failed)
			continue
		}
		r.add(before, f)
		before = f
	}
	if len(r.files) == 0 || allFailed(r.files) {
		return r, errors.Join(r.damage...)
	}
	r.behind()
	r.finish(dir, before)
	return r, nil
}

// commonID returns the log ID that most of the readable files have. A file with another ID is not part of this log.
func commonID(all []found) (id string) {
	count := map[string]int{}
	for _, f := range all {
		if f.failed != nil {
			continue
		}
		own := f.begin.identity.LogID
		if count[own]++; count[own] > count[id] {
			id = own
		}
	}
	return id
}

// stray reports whether the unusable file f does not belong to the log. That is so if the file before it already has
// the record that f's name claims as its first, or if f is the first and the file after it begins with record 1. after
// are the files after f.
func stray(before, f *found, after []found) bool {
	if before != nil && before.failed == nil && before.noHead == nil {
		return before.head.Sequence >= f.file.first
	}
	return before == nil && len(after) > 0 && after[0].failed == nil && after[0].file.first == 1
}

func allFailed(files []*logFile) bool {
	for _, f := range files {
		if f.ended == nil {
			return false
		}
	}
	return true
}

// add appends file f to the log. before is the file before it; nil for the first. If f does not begin where `before`
// ends, add notes the damage.
func (r *readable) add(before, f *found) {
	switch {
	case f.failed != nil:
		err := explainOpen(f.file, f.failed)
		if f.foreign {
			err = f.file.corrupt(f.file.first, f.failed)
		}
		_ = f.file.end(err)
		r.damage = append(r.damage, err)
	case before == nil || before.failed != nil:
	case before.noHead != nil:
		// The end of the file `before` cannot be read. The file f stores the same values as the head of the log
		// before it, so take them from f.
		before.file.told = &head{Head: f.begin.before, epoch: f.begin.identity.Epoch}
	case before.head.Head != f.begin.before:
		f.file.seam = seamError(before, f)
		r.damage = append(r.damage, f.file.seam)
	}
	if f.failed == nil && f.noHead != nil {
		r.damage = append(r.damage, f.file.corrupt(f.file.first, f.noHead))
	}
	if before != nil && before.failed == nil && before.noHead == nil {
		before.file.until = before.head.Sequence
	}
	r.files = append(r.files, f.file)
}

func seamError(before, f *found) error {
	end, next := before.head.Head, f.begin.before
	if end.Sequence < next.Sequence {
		return missing(f.file, end.Sequence+1, next.Sequence)
	}
	return &store.CorruptError{
		Path: f.file.path, At: min(end.Sequence, next.Sequence) + 1,
		Next: f.file.first,
		Cause: fmt.Errorf("the file continues record %d, hash %s, but %s ends with record %d, hash %s",
			next.Sequence, next.Hash, before.file.path, end.Sequence, end.Hash),
		Hint: readableFrom(f.file.first),
	}
}

// missing returns the error for the records [from, through] between two files, which no file contains. f is the file
// after them.
func missing(f *logFile, from, through events.Sequence) error {
	return &store.CorruptError{
		Path: filepath.Dir(f.path), At: from, Next: f.first,
		Cause: fmt.Errorf("records %d to %d are missing: there is no file of them, and no Pruned record says so", from, through),
		Hint:  readableFrom(f.first),
	}
}

func readableFrom(first events.Sequence) string {
	return fmt.Sprintf("records before it, and those from %d on, can be read: --from %d", first, first)
}

// behind completes the errors about damaged files: each error then names the first record of the next file, from which
// one can read on.
func (r *readable) behind() {
	for i, f := range r.files[1:] {
		r.files[i].follows.Store(uint64(f.first))
		for _, err := range append([]error{r.files[i].ended}, r.damage...) {
			var bad *store.CorruptError
			if errors.As(err, &bad) && bad.Path == r.files[i].path && bad.Next == 0 {
				goesOn(bad, f.first)
			}
		}
	}
}

// finish determines the end of the log, and looks for records that were lost after it. last is the last file.
func (r *readable) finish(dir string, last *found) {
	if last.failed != nil || last.noHead != nil {
		r.beyond = r.damage[len(r.damage)-1]
		// If the last file is damaged, the log ends where the newest intact file ends.
		for i := len(r.files) - 1; i > 0 && r.end.Sequence == 0; i-- {
			if f := r.files[i-1]; f.ended == nil {
				if h, err := f.head(); err == nil {
					r.end, r.id.Epoch = h.Head, h.epoch
				}
			}
		}
	} else {
		r.end, r.id.Epoch = last.head.Head, last.head.epoch
	}
	offsets, _ := last.file.offsetsIfWhole()
	lost, err := wentBack(dir, r.id, last.file.first, r.end, offsets)
	if len(lost) > 0 {
		err = newestLoss(lost)
	}
	if err != nil && r.beyond == nil {
		r.beyond = err
		r.damage = append(r.damage, err)
	}
}

// offsetsIfWhole returns up to which record each consumer had read, as the file stores it. It returns an error if the
// file is not readable.
func (f *logFile) offsetsIfWhole() (map[string]events.Sequence, error) {
	if f.ended != nil {
		return nil, f.ended
	}
	return f.offsets()
}

// checkFirst returns an error if records are missing before the oldest file. If the log does not begin with record 1, a
// Pruned record must say that the earlier records were deleted.
func (l *ReadOnly) checkFirst(ctx context.Context) error {
	first := l.files[0]
	readable := first.ended == nil // a file that is not readable has already been reported
	if readable && first.first > 1 {
		return l.admitted(ctx, first)
	}
	if !readable || l.durable.Sequence == 0 {
		return nil
	}
	r, _, err := l.mustView().one(1, nearChunk{})
	if err != nil {
		return err
	}
	b, err := first.begin()
	if err == nil {
		_, err = store.NextIdentity(b.identity, &r)
	}
	if err != nil {
		return first.corrupt(1, err)
	}
	return nil
}

// admitted returns an error unless a Pruned record says that the records before the file `first` were deleted.
func (l *logReader) admitted(ctx context.Context, first *logFile) error {
	s, err := l.view()
	if err != nil {
		return err
	}
	for i := range slices.Backward(s.files) {
		admits := false
		// Errors are ignored here, because a read of the records reports them.
		_ = s.prunedIn(ctx, i, func(_ events.Sequence, p *events.Pruned) { admits = admits || p.First >= first.first })
		if admits {
			return nil
		}
	}
	return missingFirst(l.dir, first.first)
}

// missingFirst returns the error for a log whose first records are missing although no Pruned record says that they
// were deleted.
func missingFirst(dir string, first events.Sequence) error {
	return &store.CorruptError{
		Path: dir, At: 1, Next: first, Cause: fmt.Errorf("records before %d are missing, and no Pruned record that can be read says so", first),
		Hint: fmt.Sprintf("records from %d on can be read", first),
	}
}
