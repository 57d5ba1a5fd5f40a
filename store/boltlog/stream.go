package boltlog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// ReadStream implements store.Reader: it returns the durable records of one stream (all records of one Job or CronJob),
// from record `from` on in direction dir.
func (l *logReader) ReadStream(ctx context.Context, stream events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		s, err := l.view()
		if err != nil {
			yield(events.Record{}, err)
			return
		}
		if dir == store.Backward {
			err = s.backward(ctx, stream, from, func(r events.Record) bool { return yield(r, nil) })
		} else {
			err = s.forward(ctx, stream, from, func(r events.Record) bool { return yield(r, nil) })
		}
		if err != nil {
			yield(events.Record{}, err)
		}
	}
}

// forward passes the stream's records from record `from` on to give, oldest first, until give returns false. It asks
// the index of one file after the other. It returns an error if a record's pointer to the previous record of its stream
// contradicts the index.
func (s view) forward(ctx context.Context, stream events.Stream, from events.Sequence, give func(events.Record) bool) error {
	var near nearChunk
	var before events.Sequence
	for i, f := range s.files {
		if i+1 < len(s.files) && s.files[i+1].first <= from {
			continue
		}
		if f.seam != nil && from < f.first {
			return fmt.Errorf("read %s: %w", stream, f.seam)
		}
		run, err := f.run(stream, from, s.durable.Sequence)
		if errors.Is(err, store.ErrPruned) && before == 0 {
			continue // the file was pruned meanwhile: begin with the next one
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", stream, err)
		}
		for i := range run.Len() {
			if err := ctx.Err(); err != nil {
				return err
			}
			r, at, err := s.one(run.At(i), near)
			if errors.Is(err, store.ErrPruned) && before == 0 {
				break // the file was pruned meanwhile: begin with the next one
			}
			if err != nil {
				return err
			}
			near = at
			if r.Stream != stream || before != 0 && r.Previous != before {
				return f.corrupt(r.Sequence, fmt.Errorf("it is in %s after %d, its index says %s after %d", r.Stream, r.Previous, stream, before))
			}
			before = r.Sequence
			if !give(r) {
				return nil
			}
		}
		if hole := f.hole(); hole != nil {
			return fmt.Errorf("read %s: %w", stream, hole)
		}
	}
	return s.beyond
}

// backward passes the stream's records to give, newest first, until give returns false. It finds the newest one at or
// before record `from` in the index, and then follows the records' pointers to their predecessors in the stream.
func (s view) backward(ctx context.Context, stream events.Stream, from events.Sequence, give func(events.Record) bool) error {
	if from == 0 || from > s.durable.Sequence {
		if s.beyond != nil {
			return s.beyond
		}
		from = s.durable.Sequence
	}
	at, err := s.newest(stream, from)
	if err != nil {
		return err
	}
	var near nearChunk
	for at > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, chunk, err := s.one(at, near)
		if err != nil {
			return err
		}
		near = chunk
		if r.Stream != stream || r.Previous >= r.Sequence {
			return near.file.corrupt(r.Sequence, fmt.Errorf("a pointer of %s leads to it, but it is in %s after %d", stream, r.Stream, r.Previous))
		}
		if !give(r) {
			return nil
		}
		at = r.Previous
	}
	return nil
}

// Newest implements store.Reader: it returns the stream's last durable record; 0 for none. born is when the stream's
// object was created; files that only have older objects are not searched.
func (l *logReader) Newest(stream events.Stream, born events.Time) (events.Sequence, error) {
	s, err := l.view()
	if err != nil {
		return 0, err
	}
	s = s.since(born)
	for {
		at, err := s.newest(stream, s.durable.Sequence)
		var hole *holeError
		if !errors.As(err, &hole) {
			return at, err
		}
		// The newest record of the stream may be in the damaged file. If the rest of that file has one, return it;
		// otherwise search the other files. The method Holes reports the damaged file.
		if run, err := hole.file.run(stream, 0, s.durable.Sequence); err == nil && run.Len() > 0 {
			return run.At(run.Len() - 1), nil
		}
		s.files = slices.DeleteFunc(slices.Clone(s.files), func(f *logFile) bool { return f == hole.file })
		if len(s.files) == 0 {
			return 0, nil
		}
	}
}

// holeError says that a search must stop, because the wanted record may be in the damaged file `file`.
type holeError struct {
	file *logFile
	error
}

func (e *holeError) Unwrap() error { return e.error }

// apart is the largest difference that we expect between the clocks of two API servers of one cluster. Example: for an
// object created at 12:00, only files are skipped whose objects were all created before 11:00.
const apart = time.Hour

// since returns the view without its oldest files, as far as all their objects were created more than `apart` before
// born. An object created at born cannot have records in these files.
func (s view) since(born events.Time) view {
	if born == 0 {
		return s
	}
	old := sort.Search(len(s.files)-1, func(i int) bool {
		t := s.files[i].youngestThrough()
		return t == anyAge || t.Add(apart) >= born
	})
	s.files = s.files[old:]
	return s
}

// newest returns the stream's last record at or before record `from`; 0 when there is none.
func (s view) newest(stream events.Stream, from events.Sequence) (events.Sequence, error) {
	for _, f := range slices.Backward(s.files) {
		if f.first > from {
			continue
		}
		run, err := f.run(stream, 0, from)
		if errors.Is(err, store.ErrPruned) {
			return 0, nil // the file was pruned meanwhile, and with it all earlier ones: no record is left
		}
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", stream, err)
		}
		if hole := f.hole(); hole != nil {
			// The search must stop here, because the damaged file may have the wanted record.
			return 0, &holeError{f, fmt.Errorf("read %s: %w", stream, hole)}
		}
		if run.Len() > 0 {
			return run.At(run.Len() - 1), nil
		}
		if f.seam != nil {
			// The search must stop here, because the wanted record may be one of those missing before this file.
			return 0, fmt.Errorf("read %s: %w", stream, f.seam)
		}
	}
	return 0, nil
}
