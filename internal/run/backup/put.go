package backup

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
)

// leaveAfter is how long an object is kept after the manifest (the list of the copy's objects) stopped naming it. A
// restore that began earlier may have read the previous manifest, and needs the object.
const leaveAfter = time.Hour

// errDamagedObject is returned if an existing object in the copy cannot be decoded. No manifest (list of the copy's
// objects) names such an object: it was left by a run that ended early.
var errDamagedObject = errors.New("the object is damaged")

func readerAt(content []byte) io.ReaderAt { return bytes.NewReader(content) }

func (r *run) step(s Step) {
	r.result.Objects++
	r.result.Bytes += s.Bytes
	r.put = true
	r.Tell(s)
}

// object writes content as object o of the copy, under the first of the names that can be used. For a free name, it
// creates the object. If an object of that name exists, it calls the function same, which compares that object with o:
//
//   - nil: the existing object has the same records and is used; same has set o's size and hash to those of this
//     object;
//   - errTaken: it has other records, so the next name is tried;
//   - errDamagedObject: it cannot be decoded, so it is deleted and written again.
//
// there is true if an existing object is used, and nothing was written.
func (r *run) object(o *copylog.Object, names []string, content io.ReaderAt, same func(*copylog.Object) error) (there bool, err error) {
	for _, o.Name = range names {
		if there, err = r.named(o, content, same); !errors.Is(err, errTaken) {
			break
		}
	}
	return there, err
}

// named writes content as object o under the one name o.Name. The function same and the result there are those of
// object; if same returns errTaken, so does named.
func (r *run) named(o *copylog.Object, content io.ReaderAt, same func(*copylog.Object) error) (there bool, err error) {
	err = r.Place.Put(r.ctx, o.Name, content, o.Bytes)
	if errors.Is(err, copylog.ErrExists) {
		if err = same(o); err == nil {
			there = true
		} else if errors.Is(err, errDamagedObject) {
			if err = r.Place.Delete(r.ctx, o.Name); err == nil {
				err = r.Place.Put(r.ctx, o.Name, content, o.Bytes)
			}
		}
	}
	if err != nil {
		return false, fmt.Errorf("put %s at %s: %w", o.Name, r.Place, err)
	}
	r.next.Leaving = slices.DeleteFunc(r.next.Leaving, func(l copylog.Leaving) bool { return l.Name == o.Name })
	return there, nil
}

// asItIs is a function same (see object) that accepts any existing object: it sets o's size and hash to those of the
// existing object, whose bytes may be other than ours. most limits the bytes read.
func (r *run) asItIs(o *copylog.Object, most int64) error {
	content, _, err := copylog.ReadAll(r.ctx, r.Place, o.Name, most)
	o.Bytes, o.SHA256 = int64(len(content)), sha256.Sum256(content)
	return err
}

// key writes the log's key (a secret by which erased values are named in the log) to the copy, if Config.WithKey is
// set. It returns an error if the copy has a different key.
func (r *run) key() error {
	if !r.WithKey {
		return nil
	}
	key, err := boltlog.ReadKey(r.Dir)
	if err != nil {
		return err
	}
	o := copylog.Object{Name: copylog.KeyName, Bytes: int64(len(key)), SHA256: sha256.Sum256(key[:])}
	if r.next.Key != nil && *r.next.Key == o {
		return nil
	}
	if r.DryRun {
		r.step(Step{Name: o.Name, Bytes: o.Bytes})
		return nil
	}
	want := o
	if _, err := r.object(&o, []string{o.Name}, readerAt(key[:]), func(o *copylog.Object) error { return r.asItIs(o, 1<<10) }); err != nil {
		return err
	}
	if o != want {
		return fmt.Errorf("%s at %s is another key than that of the log: remove it there, if it is of no use any more", o.Name, r.Place)
	}
	r.next.Key = &o
	r.step(Step{Name: o.Name, Bytes: o.Bytes})
	return nil
}

// tidy deletes the objects that the manifest, the list of the copy's objects, has not named for an hour.
func (r *run) tidy() error {
	old := events.At(r.Now().Add(-leaveAfter))
	if place, is := r.Place.(copylog.Tidier); is && !r.tidied {
		if err := place.Tidy(r.ctx, old.Go()); err != nil {
			return fmt.Errorf("remove what an earlier run left at %s: %w", r.Place, err)
		}
		r.tidied = true
	}
	var stay []copylog.Leaving
	for _, l := range r.next.Leaving {
		if l.Since > old {
			stay = append(stay, l)
			continue
		}
		if err := r.Place.Delete(r.ctx, l.Name); err != nil {
			return fmt.Errorf("delete %s at %s: %w", l.Name, r.Place, err)
		}
		r.put = true
		r.Tell(Step{Name: l.Name, Deleted: true})
	}
	r.next.Leaving = stay
	return nil
}

// name writes the manifest, the list of the copy's objects, if something has changed. last is true for the last
// manifest of a run; once a day it is also stored under a name of its own, so that older states can be restored.
func (r *run) name(last bool) error {
	if !r.put {
		return nil
	}
	if err := r.keepDropped(); err != nil {
		return err
	}
	m := r.next
	m.Identity, m.Head, m.First = r.log.Identity, m.End(), r.log.Firsts[0]
	m.Written, m.Writer = events.At(r.Now()), r.Writer
	content, err := m.Encode()
	if err != nil {
		return err
	}
	if n := len(m.Kept); last && (n == 0 || dayOf(m.Kept[n-1].Written) != dayOf(m.Written)) {
		if err := r.keep(content); err != nil {
			return err
		}
		if content, err = m.Encode(); err != nil {
			return err
		}
	}
	tag, err := r.Place.Replace(r.ctx, copylog.ManifestName, content, r.tag)
	// ErrChanged also comes if this process wrote the manifest and only the answer was lost. Then the manifest has our
	// bytes, and that is no error.
	if errors.Is(err, copylog.ErrChanged) {
		now, itsTag, readErr := copylog.ReadAll(r.ctx, r.Place, copylog.ManifestName, copylog.MostManifest)
		if readErr == nil && bytes.Equal(now, content) {
			tag, err = itsTag, nil
		}
	}
	if err != nil {
		return fmt.Errorf("write the manifest at %s: %w", r.Place, err)
	}
	r.tag, r.put = tag, false
	return nil
}

func dayOf(t events.Time) string { return t.Go().UTC().Format(time.DateOnly) }

// keep stores the manifest, the list of the copy's objects, a second time under a name made of its last record. If an
// object of that name exists, it describes the same state, and is not replaced.
func (r *run) keep(content []byte) error {
	m := r.next
	k := copylog.Kept{Name: copylog.KeptName(m.Head.Sequence, m.Identity.Epoch), Epoch: m.Identity.Epoch, Head: m.Head, Written: m.Written}
	err := r.Place.Put(r.ctx, k.Name, readerAt(content), int64(len(content)))
	if err != nil && !errors.Is(err, copylog.ErrExists) {
		return fmt.Errorf("put %s at %s: %w", k.Name, r.Place, err)
	}
	m.Kept = append(m.Kept, k)
	return nil
}

// keepDropped stores the previous manifest under a name of its own, if the log continued without some records that the
// copy had. So those records can still be restored.
func (r *run) keepDropped() error {
	if r.result.Dropped == 0 || r.raw == nil {
		return nil
	}
	was := r.was
	k := copylog.Kept{Name: copylog.KeptName(was.Head.Sequence, was.Identity.Epoch), Epoch: was.Identity.Epoch, Head: was.Head, Written: was.Written}
	if !slices.ContainsFunc(r.next.Kept, func(had copylog.Kept) bool { return had.Name == k.Name }) {
		r.next.Kept = append(r.next.Kept, k)
	}
	err := r.Place.Put(r.ctx, k.Name, readerAt(r.raw), int64(len(r.raw)))
	if err != nil && !errors.Is(err, copylog.ErrExists) {
		return fmt.Errorf("put %s at %s: %w", k.Name, r.Place, err)
	}
	r.raw = nil
	return nil
}

// readBack returns the last record of the copy, as a reader would find it: it reads the manifest, and the object that
// holds the newest records.
func (r *run) readBack() (head store.Head, err error) {
	content, _, err := copylog.ReadAll(r.ctx, r.Place, copylog.ManifestName, copylog.MostManifest)
	if err != nil {
		return head, err
	}
	m, err := copylog.Decode(content)
	if err != nil {
		return head, err
	}
	segments := m.Segments()
	if len(segments) == 0 {
		return head, errors.New("it has no segment") // a copy has one, because the newest file has a record
	}
	last := segments[len(segments)-1]
	value, _, err := copylog.ReadAll(r.ctx, r.Place, last.Object.Name, mostSegment)
	if err != nil {
		return head, err
	}
	if sha256.Sum256(value) != last.Object.SHA256 {
		return head, fmt.Errorf("%s has other bytes than were put", last.Object.Name)
	}
	stored, after, err := boltlog.DecodeSegment(last.First, last.Before, value)
	if err != nil {
		return head, fmt.Errorf("%s: %w", last.Object.Name, err)
	}
	return store.Head{Sequence: last.First + events.Sequence(len(stored)) - 1, Hash: after, Time: last.End.Time}, nil
}
