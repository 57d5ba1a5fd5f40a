package backup

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
)

// residentBytes is segmentBytes for a Session: it bounds the records held in memory.
const residentBytes = 1 << 20

// segmentBytes is the size at which a segment ends with the current batch. A file of 256 MiB copied at once has at most
// 64 segments.
const segmentBytes = 4 << 20

// mostSegment is above the size of any segment.
const mostSegment = 128 << 20

// segment is a segment in the making.
type segment struct {
	records []record
	before  events.Hash
	bytes   int
}

// tail puts the records of the newest file that the copy lacks, as segments. The manifest names them together.
func (r *run) tail() error {
	t := copylog.Tail{First: r.log.Last(), Begin: r.log.Tail.Begin}
	s := segment{before: r.log.Tail.Before.Hash}
	from, epoch := t.First, r.log.Tail.Began.Epoch
	if had := r.next.Segments(); len(had) > 0 && r.next.Tail.First == t.First {
		end := had[len(had)-1]
		t.Segments = had
		from, s.before, epoch = end.End.Sequence+1, end.End.Hash, end.Epoch
	} else if before := r.runBefore(t.First); before != nil && before.End().Sequence+1 == t.First && before.End() != r.log.Tail.Before {
		return r.ahead()
	}
	t.Term, t.Offsets = r.log.Tail.Term, r.log.Offsets
	if err := r.segments(&t, &s, recordsOf(r.ctx, r.log, from, s.before, epoch, r.log.Head)); err != nil {
		return err
	}
	if err := r.merge(&t); err != nil {
		return err
	}
	if r.next.Tail = &t; len(t.Segments) == 0 {
		r.next.Tail = nil
	}
	return nil
}

// segments puts records that follow the copy's records of the file.
func (r *run) segments(t *copylog.Tail, s *segment, records iter.Seq2[record, error]) error {
	most := segmentBytes
	if r.resident {
		most = residentBytes
	}
	for one, err := range records {
		var fork *forkError
		if errors.As(err, &fork) {
			return r.ahead()
		}
		if err != nil {
			return fmt.Errorf("read the newest file of the log: %w", err)
		}
		s.records, s.bytes = append(s.records, one), s.bytes+len(one.stored)
		if one.label.Last && s.bytes >= most {
			if err := r.segment(t, s); err != nil {
				return err
			}
		}
	}
	for len(s.records) > 0 {
		if err := r.segment(t, s); err != nil {
			return err
		}
	}
	return nil
}

// segment puts a segment and removes its records from s. If the object exists with fewer of the records, that one is
// used. If it exists with other records, of another log or none, it stays, and the segment gets another name. Between two
// writers, the manifest decides in the end.
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
	same := func(o *copylog.Object) (err error) {
		n, err = r.sameSegment(o, &f, s)
		return err
	}
	there, err := r.object(&f.Object, f.SegmentNames(), readerAt(content), same)
	if err != nil {
		return err
	}
	last = s.records[n-1]
	f.End = store.Head{Sequence: last.label.Sequence, Hash: last.after, Time: last.time}
	f.Records = boltlog.RecordsHash(s.before, storedOf(s.records[:n]), last.after)
	r.step(Step{Name: f.Object.Name, First: f.First, Last: f.End.Sequence, Bytes: f.Object.Bytes, There: there})
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

// sameSegment returns how many of the records an existing object has: of a run that ended early, when the log had
// fewer.
func (r *run) sameSegment(o *copylog.Object, f *copylog.File, s *segment) (n int, err error) {
	content, _, err := copylog.ReadAll(r.ctx, r.Place, o.Name, mostSegment)
	if err != nil {
		return 0, err
	}
	stored, after, err := boltlog.DecodeSegment(f.First, f.Before, content)
	if n = len(stored); err != nil || n > len(s.records) || s.records[n-1].after != after || !bytes.Equal(s.records[n-1].stored, stored[n-1]) {
		return len(s.records), errors.Join(errTaken, err)
	}
	o.Bytes, o.SHA256 = int64(len(content)), sha256.Sum256(content)
	return n, nil
}

// errTaken: the object of that name has other records than the log.
var errTaken = errors.New("it has other records than the log")
