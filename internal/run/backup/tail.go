package backup

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
)

// segmentBytes is with how many bytes of records a segment ends, when their batch does. A file of 256 MiB has 64 of them at most, if it is
// copied at once.
const segmentBytes = 4 << 20

// mostSegment is more bytes than a segment has.
const mostSegment = 128 << 20

// segment is one in the making.
type segment struct {
	records []record
	before  events.Hash
	bytes   int
}

// tail puts what the copy does not have of the newest file, in segments. They are named together.
func (r *run) tail() error {
	t := copylog.Tail{First: r.log.last(), Begin: r.log.tail.Begin}
	s := segment{before: r.log.tail.Before.Hash}
	from, epoch := t.First, r.log.tail.Began.Epoch
	if had := r.next.Segments(); len(had) > 0 && r.next.Tail.First == t.First {
		end := had[len(had)-1]
		t.Segments = had
		from, s.before, epoch = end.End.Sequence+1, end.End.Hash, end.Epoch
	} else if n := len(r.next.Files); n > 0 && r.next.Files[n-1].End.Sequence+1 == t.First && r.next.Files[n-1].End != r.log.tail.Before {
		return r.ahead()
	}
	t.Term, t.Offsets = r.log.tail.Term, r.log.offsets
	for one, err := range r.log.records(r.ctx, from, s.before, epoch) {
		var fork *forkError
		if errors.As(err, &fork) {
			return r.ahead()
		}
		if err != nil {
			return fmt.Errorf("read the newest file of the log: %w", err)
		}
		s.records, s.bytes = append(s.records, one), s.bytes+len(one.stored)
		if one.label.Last && s.bytes >= segmentBytes {
			if err := r.segment(&t, &s); err != nil {
				return err
			}
		}
	}
	for len(s.records) > 0 {
		if err := r.segment(&t, &s); err != nil {
			return err
		}
	}
	r.next.Tail = &t
	return nil
}

// segment puts a segment, and takes its records off. One that is there may have fewer of them.
func (r *run) segment(t *copylog.Tail, s *segment) error {
	n := len(s.records)
	last := s.records[n-1]
	f := copylog.File{
		First: s.records[0].label.Sequence, Before: s.before, Epoch: last.epoch,
		End: store.Head{Sequence: last.label.Sequence, Hash: last.after, Time: last.time},
	}
	name := copylog.SegmentName(f.First, f.Epoch)
	if r.DryRun {
		r.step(Step{Name: name, First: f.First, Last: f.End.Sequence, Bytes: int64(s.bytes)})
		*s = segment{before: last.after}
		return nil
	}
	content, err := boltlog.EncodeSegment(f.First, storedOf(s.records), last.after)
	if err != nil {
		return err
	}
	f.Object = copylog.Object{Name: name, Bytes: int64(len(content)), SHA256: sha256.Sum256(content)}
	there, err := r.object(&f.Object, readerAt(content), func(o *copylog.Object) (err error) {
		n, err = r.sameSegment(o, &f, s)
		return err
	})
	if err != nil {
		return err
	}
	last = s.records[n-1]
	f.End = store.Head{Sequence: last.label.Sequence, Hash: last.after, Time: last.time}
	f.Records = boltlog.RecordsHash(s.before, storedOf(s.records[:n]), last.after)
	r.step(Step{Name: name, First: f.First, Last: f.End.Sequence, Bytes: f.Object.Bytes, There: there})
	t.Segments = append(t.Segments[:len(t.Segments):len(t.Segments)], f)
	rest := segment{before: last.after, records: s.records[n:]}
	for _, one := range rest.records {
		rest.bytes += len(one.stored)
	}
	*s = rest
	return nil
}

func storedOf(records []record) [][]byte {
	out := make([][]byte, len(records))
	for i := range records {
		out[i] = records[i].stored
	}
	return out
}

// sameSegment says how many of the records an object has that is there: of a run that ended early, when the log had fewer.
func (r *run) sameSegment(o *copylog.Object, f *copylog.File, s *segment) (n int, err error) {
	content, _, err := copylog.ReadAll(r.ctx, r.Place, o.Name, mostSegment)
	if err != nil {
		return 0, err
	}
	stored, after, err := boltlog.DecodeSegment(f.First, f.Before, content)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errDamagedObject, err)
	}
	if n = len(stored); n > len(s.records) || s.records[n-1].after != after || !bytes.Equal(s.records[n-1].stored, stored[n-1]) {
		return 0, fmt.Errorf("%s at %s has other records than the log: %w", o.Name, r.Place, r.ahead())
	}
	o.Bytes, o.SHA256 = int64(len(content)), sha256.Sum256(content)
	return n, nil
}
