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

// residentBytes is the size at which a segment ends when a Session copies (segmentBytes otherwise). It is smaller,
// because the records of a segment are held in memory.
const residentBytes = 1 << 20

// segmentBytes is the size at which a segment (an object with records of the newest file) ends; the segment includes
// the rest of the current batch. So a file of 256 MiB that is copied at once has at most 64 segments.
const segmentBytes = 4 << 20

// mostSegment limits what is read of one segment. No segment gets near 128 MiB.
const mostSegment = 128 << 20

// segment collects records for the next segment to write, an object with some records of a log file. before is the hash
// of all records in front of them.
type segment struct {
	records []record
	before  events.Hash
	bytes   int
}

// tail copies the records of the newest file that the copy lacks. It writes them as segments (objects with some records
// each), which the manifest then names all at once.
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

// segments writes the records as segments (objects with some records each), and adds these to t. The records must
// follow those that t has already. s collects the records of the next segment.
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

// segment writes the records of s as one segment (an object), and removes them from s. If an object of that name has
// only the first of these records, that object is used, and the remaining records stay in s. If its records are
// different, it stays, and the segment gets another name. If two processes write the copy, the one that replaces the
// manifest first wins.
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

// sameSegment returns how many records of s the existing object o has. It can be fewer than all: a run that ended early
// wrote the object when the log had fewer records. It returns errTaken if the object has different records.
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

// errTaken is returned if an object of the same name exists, and its records differ from the log's.
var errTaken = errors.New("it has other records than the log")
