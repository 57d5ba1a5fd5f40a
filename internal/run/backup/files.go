package backup

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/regular"
)

// files copies the sealed files (complete files, which do not change) that the copy lacks, oldest first. It updates the
// manifest, the list of the copy's objects, after each file; so a run that ends early has still copied something.
func (r *run) files() error {
	for _, first := range r.log.Firsts[:len(r.log.Firsts)-1] {
		err := r.oneFile(first)
		if errors.Is(err, fs.ErrNotExist) { // the log pruned the file after it was listed
			err = fmt.Errorf("%w: %w", err, copylog.ErrChanged)
		}
		if err != nil {
			return err
		}
	}
	return r.gap(r.log.Last())
}

func (r *run) oneFile(first events.Sequence) error {
	if r.known[first] {
		return nil
	}
	if r.resident {
		if done, err := r.rest(first); done || err != nil {
			return err
		}
	}
	if i := slices.IndexFunc(r.next.Files, func(f copylog.File) bool { return f.First == first }); i >= 0 {
		return r.isSame(copylog.Run{File: &r.next.Files[i]})
	}
	return r.file(first)
}

// isSame checks that a file of the log and the same file of the copy begin and end with the same hash of all records so
// far. If not, it returns an AheadError.
func (r *run) isSame(one copylog.Run) error {
	s, err := r.log.File(one.First())
	if err != nil {
		return err
	}
	if s.Before.Hash != one.Before() || s.End != one.End() {
		err = r.ahead()
	} else {
		r.isKnown(one.First())
	}
	return errors.Join(err, s.Close())
}

// isKnown remembers that this file of the log, which begins with record first, was compared with the copy's file.
func (r *run) isKnown(first events.Sequence) {
	if r.known == nil {
		r.known = map[events.Sequence]bool{}
	}
	r.known[first] = true
}

// runBefore returns the last file of the copy that begins before record first; nil for none.
func (r *run) runBefore(first events.Sequence) *copylog.Run {
	var last *copylog.Run
	for _, one := range r.next.Runs() {
		if one.First() < first {
			last = &one
		}
	}
	return last
}

// gap notes in the manifest (the list of the copy's objects) the records that the log deleted before they could be
// copied. These are the records between the copy's last one and record first, with which the next file of the log
// begins. The copy keeps the pieces that it has of a file that the log deleted.
func (r *run) gap(first events.Sequence) error {
	end := events.Sequence(0)
	if before := r.runBefore(first); before != nil {
		end = before.End().Sequence
	}
	if t := r.next.Tail; t != nil && t.First < first {
		r.next.Partial = append(slices.Clone(r.next.Partial), *t)
		r.next.Tail = nil
	}
	if end+1 > first {
		return fmt.Errorf("the copy has records through %d, and a file of the log begins with record %d: %w", end, first, r.ahead())
	}
	if end+1 < first && first != r.log.Firsts[0] {
		// If the log has an older file, it has not deleted the records in between: they are in that file, and differ
		// from the copy's.
		return r.ahead()
	}
	if end+1 < first {
		hole := copylog.Hole{From: end + 1, Through: first - 1}
		if !slices.Contains(r.next.Holes, hole) {
			r.next.Holes = append(slices.Clone(r.next.Holes), hole)
			r.result.Holes = append(r.result.Holes, hole)
		}
	}
	return nil
}

func (r *run) ahead() error {
	was := copylog.Manifest{}
	if r.was != nil {
		was = *r.was
	}
	return &AheadError{Place: r.Place.String(), Copy: was, ID: r.log.Identity, Head: r.log.Head}
}

// file writes one sealed file of the log, which begins with record first, to the copy, and adds it to the manifest.
func (r *run) file(first events.Sequence) (err error) {
	s, err := r.log.File(first)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := r.gap(first); err != nil {
		return err
	}
	if before := r.runBefore(first); before != nil && before.End().Sequence+1 == first && before.End() != s.Before {
		return r.ahead()
	}
	f := copylog.File{First: first, Before: s.Before.Hash, End: s.End, Epoch: s.Identity.Epoch}
	if r.DryRun {
		_, size := s.Content()
		r.step(Step{Name: copylog.FileName(first, f.Epoch), First: first, Last: s.End.Sequence, Bytes: size})
		r.take(f)
		return nil
	}
	if err := r.putFile(&f, s); err != nil {
		return err
	}
	r.take(f)
	return r.name(false)
}

// putFile writes a sealed file to the copy in compressed (packed) form. First it reads the whole file, and checks its
// checksums and its hash chain.
func (r *run) putFile(f *copylog.File, s *boltlog.Sealed) (err error) {
	is, err := s.IsPacked()
	if err == nil && !is {
		var unpack func() error
		if s, unpack, err = r.packed(s); err == nil {
			defer func() { err = errors.Join(err, unpack()) }()
		}
	}
	if err != nil {
		return err
	}
	if f.Records, err = r.readThrough(s); err != nil {
		return fmt.Errorf("the file is not copied, and nothing behind it: %w", err)
	}
	content, size := s.Content()
	f.Object = copylog.Object{Bytes: size}
	if f.Object.SHA256, err = shaOf(io.NewSectionReader(content, 0, size)); err != nil {
		return err
	}
	there, err := r.object(&f.Object, f.FileNames(), content, func(o *copylog.Object) error { return r.sameFile(o, f) })
	if err != nil {
		return err
	}
	r.step(Step{Name: f.Object.Name, First: f.First, Last: f.End.Sequence, Bytes: f.Object.Bytes, There: there})
	return nil
}

// packed returns the file in compressed form, which takes a third of the space. unpack removes the temporary file.
func (r *run) packed(s *boltlog.Sealed) (packed *boltlog.Sealed, unpack func() error, err error) {
	temp, err := r.temp()
	if err != nil {
		return nil, nil, err
	}
	if packed, err = s.Packed(r.ctx, temp); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(temp))
	}
	return packed, func() error { return errors.Join(packed.Close(), os.Remove(temp)) }, nil
}

func (r *run) temp() (path string, err error) {
	f, err := os.CreateTemp(r.Temp, "copy-*.tmp") // opening the log deletes files with this suffix
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// take adds a whole file to the manifest (the list of the copy's objects), and removes the segments that have the same
// records.
func (r *run) take(f copylog.File) {
	i, _ := slices.BinarySearchFunc(r.next.Files, f.First, func(f copylog.File, first events.Sequence) int { return cmp.Compare(f.First, first) })
	r.next.Files = slices.Insert(slices.Clone(r.next.Files), i, f)
	r.isKnown(f.First)
	if t := r.next.Tail; t != nil && t.First == f.First {
		r.leave(t.Segments...)
		r.next.Tail = nil
	}
	for _, t := range r.next.Partial {
		if t.First == f.First {
			r.leave(t.Segments...)
		}
	}
	r.next.Partial = slices.DeleteFunc(slices.Clone(r.next.Partial), func(t copylog.Tail) bool { return t.First == f.First })
}

// leave notes in the manifest that it no longer names these segments; tidy deletes the objects an hour later.
func (r *run) leave(segments ...copylog.File) {
	r.next.Leaving = slices.Clone(r.next.Leaving)
	for _, s := range segments {
		r.next.Leaving = append(r.next.Leaving, copylog.Leaving{Name: s.Object.Name, Since: events.At(r.Now())})
	}
}

// readThrough reads a file with all checks, and returns the hash of its records. If the copy has pieces (segments) of
// the same file, their records must be the same; otherwise readThrough returns an AheadError.
func (r *run) readThrough(s *boltlog.Sealed) (events.Hash, error) {
	ends := map[events.Sequence]events.Hash{}
	for _, one := range r.next.Runs() {
		if one.Segments != nil && one.First() == s.First() {
			for _, segment := range one.Segments.Segments {
				ends[segment.End.Sequence] = segment.End.Hash
			}
		}
	}
	for at := range ends {
		if at > s.End.Sequence {
			return events.Hash{}, r.ahead()
		}
	}
	return s.Records(r.ctx, func(l events.Label, after events.Hash) error {
		if want, is := ends[l.Sequence]; is && want != after {
			return r.ahead()
		}
		return nil
	})
}

// sameFile checks that an object that exists already holds the same records as f; its bytes may differ. It returns
// errTaken if the hash of the records, or the hash chain at either end, differs. It sets o's size and hash to those of
// the existing object.
func (r *run) sameFile(o *copylog.Object, f *copylog.File) (err error) {
	if is, err := r.sameBytes(o); is || err != nil {
		return err
	}
	temp, err := os.CreateTemp(r.Temp, "copy-*.tmp")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, temp.Close(), os.Remove(temp.Name())) }()
	content, err := r.Place.Get(r.ctx, o.Name)
	if err != nil {
		return err
	}
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(temp, sum), content)
	if err = errors.Join(err, content.Close()); err != nil {
		return err
	}
	s, err := boltlog.OpenSealed(temp.Name(), f.First)
	if err != nil {
		return fmt.Errorf("%w: %w", errDamagedObject, err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	records, err := s.Records(r.ctx, nil)
	if errors.Is(err, store.ErrCorrupt) {
		return fmt.Errorf("%w: %w", errDamagedObject, err)
	}
	if err != nil {
		return err
	}
	if s.Before.Hash != f.Before || s.End != f.End || records != f.Records || s.Identity.LogID != r.log.Identity.LogID {
		return errTaken
	}
	o.Bytes = size
	sum.Sum(o.SHA256[:0])
	return nil
}

// sameBytes reports whether the existing object named o.Name has the bytes whose hash is o.SHA256.
func (r *run) sameBytes(o *copylog.Object) (bool, error) {
	content, err := r.Place.Get(r.ctx, o.Name)
	if err != nil {
		return false, err
	}
	sum, err := shaOf(content)
	return sum == o.SHA256, errors.Join(err, content.Close())
}

// derived copies the files that can be made from sealed files, and that the copy lacks: their indexes and their lists
// of Jobs. It leaves out what does not exist on the disk or is not complete.
func (r *run) derived() error {
	if r.DryRun {
		return nil
	}
	r.next.Files = slices.Clone(r.next.Files)
	for i := range r.next.Files {
		f := &r.next.Files[i]
		if !slices.Contains(r.log.Firsts, f.First) {
			continue
		}
		if err := r.derivedOf(f); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) derivedOf(f *copylog.File) error {
	for _, name := range boltlog.Derived(f.First) {
		path := filepath.Join(r.Dir, name)
		o := copylog.Object{Name: copylog.WithSuffix(f.Object.Name, filepath.Ext(name))}
		has := slices.ContainsFunc(f.Derived, func(had copylog.Object) bool { return had.Name == o.Name })
		if has || !boltlog.IsDerived(path, r.log.Identity.LogID, f.End) {
			continue
		}
		content, err := regular.Read(path, mostDerived)
		if err != nil {
			continue // the file is just being replaced: a copy may lack it, because it can be made again
		}
		o.Bytes, o.SHA256 = int64(len(content)), sha256.Sum256(content)
		if _, err := r.object(&o, []string{o.Name}, readerAt(content), func(o *copylog.Object) error { return r.asItIs(o, mostDerived) }); err != nil {
			return err
		}
		f.Derived = append(slices.Clone(f.Derived), o)
		r.step(Step{Name: o.Name, Bytes: o.Bytes})
	}
	return nil
}

// mostDerived limits what is read of one index or one list of Jobs. None gets near 1 GiB.
const mostDerived = 1 << 30

func shaOf(content io.Reader) (sum events.Hash, err error) {
	h := sha256.New()
	if _, err := io.CopyBuffer(h, content, make([]byte, 1<<20)); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}
