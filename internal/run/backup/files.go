package backup

import (
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

// files puts the sealed files that the copy does not have, oldest first. Each is named at once: a run that ends early has not gone for
// nothing.
func (r *run) files() error {
	for _, first := range r.log.firsts[:len(r.log.firsts)-1] {
		var err error
		if i := slices.IndexFunc(r.next.Files, func(f copylog.File) bool { return f.First == first }); i >= 0 {
			err = r.isSame(&r.next.Files[i])
		} else {
			err = r.file(first)
		}
		if errors.Is(err, fs.ErrNotExist) { // it was pruned a moment ago
			err = fmt.Errorf("%w: %w", err, copylog.ErrChanged)
		}
		if err != nil {
			return err
		}
	}
	return r.gap(r.log.last())
}

// isSame checks that a file of the log is the one that the copy has: that it lies between the same chain values.
func (r *run) isSame(f *copylog.File) error {
	s, err := r.log.open(f.First)
	if err != nil {
		return err
	}
	if s.Before.Hash != f.Before || s.End != f.End {
		err = r.ahead()
	}
	return errors.Join(err, s.Close())
}

// gap notes the records that were gone before they were copied, when the next ones begin with first. What the copy has of a file that is
// gone stays.
func (r *run) gap(first events.Sequence) error {
	end := events.Sequence(0)
	if n := len(r.next.Files); n > 0 {
		end = r.next.Files[n-1].End.Sequence
	}
	t := r.next.Tail
	if end+1 > first {
		return fmt.Errorf("the copy has records through %d in files, and a file of the log begins with record %d: %w", end, first, r.ahead())
	}
	if t != nil && t.First < first {
		r.next.Partial = append(r.next.Partial, *t)
		r.next.Tail, end = nil, t.Segments[len(t.Segments)-1].End.Sequence
	}
	if end+1 < first && first != r.log.firsts[0] {
		return r.ahead() // the log has the records before that file, and others than the copy
	}
	if end+1 < first {
		hole := copylog.Hole{From: end + 1, Through: first - 1}
		if !slices.Contains(r.next.Holes, hole) {
			r.next.Holes = append(r.next.Holes, hole)
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
	return &AheadError{Place: r.Place.String(), Copy: was, ID: r.log.id, Head: r.log.head}
}

func (r *run) file(first events.Sequence) (err error) {
	s, err := r.log.open(first)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := r.gap(first); err != nil {
		return err
	}
	if n := len(r.next.Files); n > 0 && r.next.Files[n-1].End.Sequence+1 == first && r.next.Files[n-1].End != s.Before {
		return r.ahead()
	}
	f := copylog.File{First: first, Before: s.Before.Hash, End: s.End, Epoch: s.Identity.Epoch}
	if r.DryRun {
		_, size := s.Content()
		r.step(Step{Name: copylog.FileName(first, f.Epoch, copylog.FileSuffix), First: first, Last: s.End.Sequence, Bytes: size})
		return r.take(f)
	}
	if f.Records, err = r.readThrough(s); err != nil {
		return fmt.Errorf("the file is not copied, and nothing behind it: %w", err)
	}
	content, size := s.Content()
	f.Object = copylog.Object{Name: copylog.FileName(first, f.Epoch, copylog.FileSuffix), Bytes: size}
	if f.Object.SHA256, err = shaOf(io.NewSectionReader(content, 0, size)); err != nil {
		return err
	}
	there, err := r.object(&f.Object, content, func(o *copylog.Object) error { return r.sameFile(o, &f) })
	if err != nil {
		return err
	}
	r.step(Step{Name: f.Object.Name, First: first, Last: f.End.Sequence, Bytes: f.Object.Bytes, There: there})
	if err := r.take(f); err != nil {
		return err
	}
	return r.name(false)
}

// take adds a file to the copy. The segments with its records go.
func (r *run) take(f copylog.File) error {
	r.next.Files = append(r.next.Files, f)
	if t := r.next.Tail; t != nil && t.First == f.First {
		for _, s := range t.Segments {
			r.next.Leaving = append(r.next.Leaving, copylog.Leaving{Name: s.Object.Name, Since: events.At(r.Now())})
		}
		r.next.Tail = nil
	}
	return nil
}

// readThrough reads a file with all its checks. Where the copy has segments of it, they must be of these records.
func (r *run) readThrough(s *boltlog.Sealed) (events.Hash, error) {
	ends := map[events.Sequence]events.Hash{}
	if t := r.next.Tail; t != nil && t.First == s.First() {
		for _, segment := range t.Segments {
			ends[segment.End.Sequence] = segment.End.Hash
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

// sameFile says whether an object that is there is a file with these records, whatever its bytes are: its chain at both ends and the hash of
// its records are the same. The object gets the size and the hash of what is there.
func (r *run) sameFile(o *copylog.Object, f *copylog.File) (err error) {
	temp, err := os.CreateTemp("", "jobledger-backup-")
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
	if s.Before.Hash != f.Before || s.End != f.End || records != f.Records || s.Identity.LogID != r.log.id.LogID {
		return fmt.Errorf("%s at %s has other records than the file of the log: %w", o.Name, r.Place, r.ahead())
	}
	o.Bytes = size
	sum.Sum(o.SHA256[:0])
	return nil
}

// derived puts the indexes and the lists of Jobs of files, where they are there and whole, and the copy lacks them.
func (r *run) derived() error {
	if r.DryRun {
		return nil
	}
	for i := range r.next.Files {
		f := &r.next.Files[i]
		for _, name := range boltlog.Derived(f.First) {
			path := filepath.Join(r.Dir, name)
			o := copylog.Object{Name: copylog.FileName(f.First, f.Epoch, filepath.Ext(name))}
			has := slices.ContainsFunc(f.Derived, func(had copylog.Object) bool { return had.Name == o.Name })
			if has || !slices.Contains(r.log.firsts, f.First) || !boltlog.IsDerived(path, r.log.id.LogID, f.End) {
				continue
			}
			content, err := regular.Read(path, mostDerived)
			if err != nil {
				continue // it is replaced at this moment, and can be made again
			}
			o.Bytes, o.SHA256 = int64(len(content)), sha256.Sum256(content)
			if _, err := r.object(&o, readerAt(content), func(o *copylog.Object) error { return r.asItIs(o, mostDerived) }); err != nil {
				return err
			}
			f.Derived = append(slices.Clone(f.Derived), o)
			r.step(Step{Name: o.Name, Bytes: o.Bytes})
		}
	}
	return nil
}

// mostDerived is more bytes than an index or a list of Jobs has.
const mostDerived = 1 << 30

func shaOf(content io.Reader) (sum events.Hash, err error) {
	h := sha256.New()
	if _, err := io.CopyBuffer(h, content, make([]byte, 1<<20)); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}
