package backup

import (
	"crypto/sha256"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
)

// mergeAt is how many small segments (objects with the newest records of a file) are merged into one.
const mergeAt = 8

// smallBytes are the sizes below which segments are merged, as soon as there are eight in a row. Segments below 16 KiB
// become one of up to 128 KiB; segments below 128 KiB become one of up to 1 MiB. So a log file that was copied every
// five seconds has few segments, and each record is written at most three times, unless its segment stays below 16 KiB
// after a merge.
var smallBytes = []int64{128 << 10, 16 << 10}

// merge replaces the small segments at the end of t by one larger segment, so that a restore reads few objects. A
// segment is an object with some records of a log file that is not complete yet.
func (r *run) merge(t *copylog.Tail) error {
	if r.DryRun {
		return nil
	}
	for _, most := range smallBytes {
		begin := len(t.Segments)
		for begin > 0 && t.Segments[begin-1].Object.Bytes < most {
			begin--
		}
		if len(t.Segments)-begin >= mergeAt {
			return r.mergeFrom(t, begin)
		}
	}
	return nil
}

func (r *run) mergeFrom(t *copylog.Tail, begin int) error {
	parts := t.Segments[begin:]
	first, last := parts[0], parts[len(parts)-1]
	f := copylog.File{First: first.First, Before: first.Before, End: last.End, Epoch: last.Epoch}
	var stored [][]byte
	after := first.Before
	for one, err := range r.log.Stored(r.ctx, f.First, f.End.Sequence) {
		if err == nil {
			after, err = after.Next(one)
		}
		if err != nil {
			return fmt.Errorf("read records %d to %d of the log again: %w", f.First, f.End.Sequence, err)
		}
		stored = append(stored, one)
	}
	if after != f.End.Hash {
		return r.ahead()
	}
	content, err := boltlog.EncodeSegment(f.First, stored, after)
	if err != nil {
		return err
	}
	f.Records = boltlog.RecordsHash(f.Before, stored, after)
	f.Object = copylog.Object{Bytes: int64(len(content)), SHA256: sha256.Sum256(content)}
	there, err := r.object(&f.Object, f.SpanNames(), readerAt(content), func(o *copylog.Object) error { return r.sameSpan(o, &f) })
	if err != nil {
		return err
	}
	r.step(Step{Name: f.Object.Name, First: f.First, Last: f.End.Sequence, Bytes: f.Object.Bytes, There: there})
	r.leave(parts...)
	t.Segments = append(t.Segments[:begin:begin], f)
	return nil
}

// sameSpan checks that an object that exists already has the records of the merged segment f. It returns errTaken if it
// has other records.
func (r *run) sameSpan(o *copylog.Object, f *copylog.File) error {
	content, _, err := copylog.ReadAll(r.ctx, r.Place, o.Name, mostSegment)
	if err != nil {
		return err
	}
	_, after, err := boltlog.DecodeSegment(f.First, f.Before, content)
	if err != nil {
		return fmt.Errorf("%w: %w", errDamagedObject, err)
	}
	if after != f.End.Hash {
		return errTaken
	}
	o.Bytes, o.SHA256 = int64(len(content)), events.Hash(sha256.Sum256(content))
	return nil
}
