package restore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/regular"
)

// errOther is returned if an object does not have the bytes that the manifest names.
var errOther = errors.New("it has other bytes than were put")

// fetch copies an object to the file at path, durably, and checks its bytes by their hash in the manifest.
func (w *working) fetch(ctx context.Context, o copylog.Object, path string) (err error) {
	content, err := w.Place.Get(ctx, o.Name)
	if err != nil {
		return w.unread(ctx, o.Name, err)
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	n, err := copyTo(io.MultiWriter(f, sum), io.LimitReader(content, o.Bytes+1))
	var own *fs.PathError // set if the error is of the local file
	switch {
	case err != nil && !errors.As(err, &own):
		err = w.unread(ctx, o.Name, err)
	case err == nil && (n != o.Bytes || events.Hash(sum.Sum(nil)) != o.SHA256):
		err = w.damaged(o.Name, fmt.Errorf("%w (%d bytes of %d)", errOther, n, o.Bytes))
	case err == nil:
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func copyTo(out io.Writer, in io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{in}, make([]byte, 1<<20))
}

// unread returns the error for an object that could not be read: a DamageError if it does not exist or is no regular
// file.
func (w *working) unread(ctx context.Context, name string, err error) error {
	if ctx.Err() == nil && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, regular.ErrOdd)) {
		return w.damaged(name, err)
	}
	return fmt.Errorf("read %s at %s: %w", name, w.Place, err)
}

// sameBytes reports whether the file at path has the object's bytes already, from an unfinished restore.
func sameBytes(path string, o copylog.Object) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // opened only for reading
	sum := sha256.New()
	n, err := copyTo(sum, f)
	return err == nil && n == o.Bytes && events.Hash(sum.Sum(nil)) == o.SHA256
}

// last writes the log's last file, and returns the log's last record. If the last file is copied as it is, it writes
// nothing.
func (w *working) last(ctx context.Context) (store.Head, events.Identity, error) {
	switch {
	case w.Cut != nil:
		return w.cut(ctx)
	case w.Last != nil:
		spec := boltlog.FileSpec{First: w.Last.First, Begin: w.Last.Begin, Term: w.Last.Term, Offsets: w.Last.Offsets}
		if w.Short() {
			// Short: only a part of this file is restored. So its first term (a process's time as writer) is the one
			// before it; the terms that begin in it are in its records.
			spec.Term = w.termBefore()
		}
		return w.write(ctx, spec, w.fromSegments(ctx, w.Segments()))
	}
	end := w.Files[len(w.Files)-1]
	return end.End, events.Identity{LogID: w.Copy.Identity.LogID, Epoch: end.Epoch}, nil
}

// termBefore returns the newest term (a process's time as the log's writer) that began before the log's last file.
func (w *working) termBefore() uint64 {
	first := w.before
	if first == 0 {
		return 0
	}
	s, err := boltlog.OpenSealed(filepath.Join(w.Dir, boltlog.FileName(first)), first)
	if err != nil {
		return 0
	}
	defer func() { _ = s.Close() }() // opened only for reading
	return s.Term
}

// cut fetches a sealed (complete) file, and writes a new file with its records up to the last wanted one.
func (w *working) cut(ctx context.Context) (head store.Head, id events.Identity, err error) {
	f := *w.Cut
	temp := filepath.Join(w.Dir, "cut.tmp")
	if err := w.fetch(ctx, f.Object, temp); err != nil {
		return head, id, err
	}
	if err := w.checked(ctx, f, temp); err != nil {
		return head, id, err
	}
	s, err := boltlog.OpenSealed(temp, f.First)
	if err != nil {
		return head, id, err
	}
	defer func() { err = errors.Join(err, s.Close(), os.Remove(temp)) }()
	offsets, err := s.Offsets()
	if err != nil {
		return head, id, w.damaged(f.Object.Name, err)
	}
	spec := boltlog.FileSpec{First: f.First, Begin: s.Begin, Offsets: offsets}
	spec.Term = w.termBefore()
	stored := func(yield func([]byte, error) bool) {
		err := s.Walk(ctx, func(_ events.Label, stored []byte, _ events.Hash) error {
			if !yield(stored, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
	head, id, err = w.write(ctx, spec, stored)
	w.came(f.Object)
	return head, id, err
}

var errEnough = errors.New("enough")

// write writes the last file of the log: whole batches of stored, up to the last wanted record or time.
func (w *working) write(ctx context.Context, spec boltlog.FileSpec, stored iter.Seq2[[]byte, error]) (store.Head, events.Identity, error) {
	head, id, err := boltlog.WriteFile(ctx, w.Dir, spec, w.wanted(stored))
	if err != nil {
		return head, id, err
	}
	if !w.Short() && head != w.Copy.Head {
		return head, id, fmt.Errorf("the log that was restored ends with record %d, hash %s, and the copy with record %d, hash %s", head.Sequence, head.Hash,
			w.Copy.Head.Sequence, w.Copy.Head.Hash)
	}
	if head.Sequence < spec.First {
		return head, id, fmt.Errorf("the first batch of the file of record %d ends behind what is wanted: --through a later record, or record %d", spec.First,
			spec.First-1)
	}
	return head, id, nil
}

// wanted yields the stored records in whole batches, and ends before the first batch that goes beyond the last wanted
// record or time.
func (w *working) wanted(stored iter.Seq2[[]byte, error]) iter.Seq2[[]byte, error] {
	if w.Through == 0 && w.At == 0 {
		return stored
	}
	return func(yield func([]byte, error) bool) {
		var batch [][]byte
		for one, err := range stored {
			var h events.Header
			if err == nil {
				h, err = events.DecodeHeader(one)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if w.Through != 0 && h.Sequence > w.Through || w.At != 0 && h.Time > w.At {
				return
			}
			if batch = append(batch, append([]byte(nil), one...)); !h.Last {
				continue
			}
			for _, one := range batch {
				if !yield(one, nil) {
					return
				}
			}
			batch = batch[:0]
		}
	}
}

// sealed rebuilds the complete files that the copy has only in pieces (segments), except the last file.
func (w *working) sealed(ctx context.Context) error {
	for _, t := range w.Sealed {
		spec := boltlog.FileSpec{First: t.First, Begin: t.Begin, Term: t.Term, Offsets: t.Offsets}
		head, _, err := boltlog.WriteFile(ctx, w.Dir, spec, w.fromSegments(ctx, t.Segments))
		if err != nil {
			return err
		}
		if want := t.Segments[len(t.Segments)-1].End; head != want {
			return fmt.Errorf("the file of record %d ends with record %d, hash %s, and in the copy with record %d, hash %s", t.First, head.Sequence, head.Hash,
				want.Sequence, want.Hash)
		}
	}
	return nil
}

// fromSegments fetches the segments in order, and yields the records in them.
func (w *working) fromSegments(ctx context.Context, segments []copylog.File) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, s := range segments {
			stored, err := w.segment(ctx, s)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, one := range stored {
				if !yield(one, nil) {
					return
				}
			}
			w.came(s.Object)
		}
	}
}

func (w *working) segment(ctx context.Context, s copylog.File) ([][]byte, error) {
	content, _, err := copylog.ReadAll(ctx, w.Place, s.Object.Name, s.Object.Bytes)
	if err != nil {
		if errors.Is(err, copylog.ErrLarge) {
			return nil, w.damaged(s.Object.Name, errOther)
		}
		return nil, w.unread(ctx, s.Object.Name, err)
	}
	if events.Hash(sha256.Sum256(content)) != s.Object.SHA256 {
		return nil, w.damaged(s.Object.Name, fmt.Errorf("%w (%d bytes of %d)", errOther, len(content), s.Object.Bytes))
	}
	stored, after, err := boltlog.DecodeSegment(s.First, s.Before, content)
	if err == nil && (after != s.End.Hash || boltlog.RecordsHash(s.Before, stored, after) != s.Records) {
		err = errors.New("it has other records than the manifest says")
	}
	if err != nil {
		return nil, w.damaged(s.Object.Name, err)
	}
	return stored, nil
}

// key fetches the log's key (a secret by which erased values are named), if the copy has it and it is wanted.
func (w *working) key(ctx context.Context) error {
	if w.Key == nil {
		return nil
	}
	if err := w.fetch(ctx, *w.Key, filepath.Join(w.Dir, copylog.KeyName)); err != nil {
		return err
	}
	w.came(*w.Key)
	return nil
}
