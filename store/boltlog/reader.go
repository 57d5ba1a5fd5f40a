package boltlog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/boltfile"
	"github.com/jobledger/jobledger/store/internal/chunk"
	"github.com/jobledger/jobledger/store/internal/index"
)

// logReader is the part of an open log that readers use: its files and the durable head (the last record on disk). It
// is safe for concurrent use.
type logReader struct {
	dir    string
	reader events.ReaderVersion // the versions that the program that opened the log can read

	mu       sync.Mutex
	files    []*logFile // ascending, at least one; the slice is replaced, never changed in place
	durable  store.Head
	identity events.Identity
	// durableEpoch is the epoch (one life of a log) at the durable head; identity.Epoch may be later, if its record is
	// not durable yet. It is used only in a log with a writer.
	durableEpoch uint64
	// why later records may exist that cannot be read; set at the open; always nil if this process writes the log
	beyond       error
	leavingBytes atomic.Int64 // total size of pruned files that are not removed yet
	closed       bool
	changed      chan struct{} // closed and replaced when durable changes or the log ends
}

// view has the files of a log and its durable head (last record on disk) at one moment. A read works with one view, so
// records that are appended meanwhile do not change its result.
type view struct {
	files   []*logFile
	durable store.Head
	beyond  error // why records after durable may be missing or unreadable; nil if none are
}

func (l *logReader) view() (view, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return view{}, store.ErrClosed
	}
	return view{files: l.files, durable: l.durable, beyond: l.beyond}, nil
}

// mustView returns the log's files and durable head, without locking. It is for the open, when nobody can close the
// log.
func (l *logReader) mustView() view {
	return view{files: l.files, durable: l.durable, beyond: l.beyond}
}

func (l *logReader) announce() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Identity implements store.Log: it returns the log's ID, and the epoch (one life of the log) after all appended
// records.
func (l *logReader) Identity() events.Identity {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.identity
}

// Head implements store.Log: it returns the last durable record, with its chain hash and time.
func (l *logReader) Head() store.Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.durable
}

// First returns the oldest record that is kept.
func (l *logReader) First() events.Sequence {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.files[0].first
}

// file returns the file that contains record `at`, and the last record in it; nil if that file is no longer kept.
func (s view) file(at events.Sequence) (f *logFile, last events.Sequence) {
	i := sort.Search(len(s.files), func(i int) bool { return s.files[i].first > at }) - 1
	if i < 0 {
		return nil, 0
	}
	last = s.durable.Sequence
	if i+1 < len(s.files) {
		last = min(last, s.files[i+1].first-1)
	}
	return s.files[i], last
}

// gap returns an error if record `at` is one of those missing between the end of one file and the beginning of the
// next; otherwise nil.
func (s view) gap(at events.Sequence) error {
	i := sort.Search(len(s.files), func(i int) bool { return s.files[i].first > at })
	if i == 0 || i == len(s.files) || s.files[i-1].until == 0 || at <= s.files[i-1].until {
		return nil
	}
	return s.files[i].seam
}

func pruned(at events.Sequence) error {
	return fmt.Errorf("read record %d: %w", at, store.ErrPruned)
}

// Read implements store.Log: it returns the durable records from record `from` on; 0 means the oldest that is kept.
func (l *logReader) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		s, err := l.view()
		if err != nil {
			yield(events.Record{}, err)
			return
		}
		if from == 0 {
			from = s.files[0].first
		}
		for err = range s.pages(ctx, from, func(r events.Record) bool { return yield(r, nil) }) {
			yield(events.Record{}, err)
		}
	}
}

// explain returns the error for the caller of a read, when err occurred at record `at`: ErrCorrupt if the file is
// damaged, ErrPruned if it was deleted meanwhile.
func (f *logFile) explain(at events.Sequence, err error) error {
	switch {
	case errors.Is(err, store.ErrCorrupt):
		return err
	case errors.Is(err, store.ErrPruned):
		return pruned(at)
	case damaged(err):
		if f.disturbed != nil {
			if now := f.disturbed(); now != nil {
				return fmt.Errorf("read record %d: %w", at, now)
			}
		}
		return fmt.Errorf("read record %d: %w", at, f.corrupt(at, err))
	}
	return fmt.Errorf("read record %d: %w", at, err)
}

// records decodes the records of a chunk (stored group of records) from *next to last. It increments *next before it
// yields a record.
func (f *logFile) records(c chunk.Chunk, next *events.Sequence, last events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		fail := func(err error) { yield(events.Record{}, f.explain(*next, err)) }
		reader, err := c.Reader()
		if err != nil {
			fail(err)
			return
		}
		for reader.Next < *next && len(reader.Rest) > 0 && err == nil {
			err = reader.Skip()
		}
		if err != nil {
			fail(err)
			return
		}
		if reader.Next != *next {
			fail(fmt.Errorf("%w: the next one there is %d", chunk.ErrChunk, reader.Next))
			return
		}
		for *next <= last {
			stored, ok, err := reader.Record()
			if !ok && err == nil {
				return
			}
			var r events.Record
			if err == nil {
				r, err = decode(stored, *next)
			}
			if err != nil {
				fail(err)
				return
			}
			*next++
			if !yield(r, nil) {
				return
			}
		}
	}
}

// decode decodes a record from its stored bytes. It returns an error unless the record's sequence is want.
func decode(stored []byte, want events.Sequence) (events.Record, error) {
	r, err := events.DecodeRecord(stored)
	switch {
	case err != nil:
		return r, fmt.Errorf("%w: %w", chunk.ErrChunk, err)
	case r.Sequence != want:
		return r, fmt.Errorf("%w: it says that it is record %d", chunk.ErrChunk, r.Sequence)
	}
	return r, nil
}

// one reads the single record `at`. near is the chunk (stored group of records) that the caller read last; if it
// contains the record, nothing is read. The returned nearChunk contains the record, for the next call.
func (s view) one(at events.Sequence, near nearChunk) (events.Record, nearChunk, error) {
	f, last := s.file(at)
	if f == nil {
		return events.Record{}, near, pruned(at)
	}
	if seam := s.gap(at); seam != nil {
		return events.Record{}, near, fmt.Errorf("read record %d: %w", at, seam)
	}
	if near.file != f || at < near.chunk.First || at > near.last {
		chunks, _, err := f.chunks(at, at, 0)
		if err == nil && len(chunks) == 0 {
			err = fmt.Errorf("%w: the record is missing", boltfile.ErrPage)
		}
		if err != nil {
			return events.Record{}, near, f.explain(at, err)
		}
		near = nearChunk{file: f, chunk: chunks[0], last: at}
		if reader, err := near.chunk.Reader(); err == nil {
			for err == nil && len(reader.Rest) > 0 {
				near.last = reader.Next
				err = reader.Skip()
			}
		}
	}
	next := at
	for r, err := range f.records(near.chunk, &next, last) {
		return r, near, err
	}
	return events.Record{}, near, f.corrupt(at, fmt.Errorf("%w: the record is missing", chunk.ErrChunk))
}

// nearChunk is the chunk (stored group of records) that was read last, with the last record in it. If the next wanted
// record is in it, too, nothing is read from disk.
type nearChunk struct {
	file  *logFile
	chunk chunk.Chunk
	last  events.Sequence
}

// Find implements store.Log: it returns the streams (records of one Job or CronJob each) whose object had this name,
// newest first.
func (l *logReader) Find(namespace, name string) ([]events.Stream, error) {
	s, err := l.view()
	if err != nil {
		return nil, err
	}
	var out []index.NamedStream
	unread := s.beyond          // why records with the name may be unreadable; nil if none are
	for _, f := range s.files { // oldest file first, so that the first mention of a stream counts
		if f.seam != nil {
			unread = f.seam
		}
		found, err := f.namedStreams(index.Name{Namespace: namespace, Name: name}, s.durable.Sequence)
		if errors.Is(err, store.ErrCorrupt) {
			unread = err
			continue
		}
		if errors.Is(err, store.ErrPruned) {
			continue // a file that was pruned meanwhile is skipped
		}
		if err != nil {
			return nil, fmt.Errorf("find %s/%s: %w", namespace, name, err)
		}
		if hole := f.hole(); hole != nil {
			unread = hole
		}
		for _, b := range found {
			if !slices.ContainsFunc(out, func(o index.NamedStream) bool { return o.Stream == b.Stream }) {
				out = append(out, b)
			}
		}
	}
	slices.SortFunc(out, func(a, b index.NamedStream) int { return int(int64(b.Since) - int64(a.Since)) })
	var streams []events.Stream
	for _, b := range out {
		streams = append(streams, b.Stream)
	}
	switch {
	case unread != nil && len(out) == 0:
		unread = fmt.Errorf("it is not in what can be read: %w", unread)
	case unread != nil:
		unread = fmt.Errorf("there may be more of that name: %w", unread)
	}
	return streams, unread
}

// landed updates the readers' view after the commit of a group of batches, successful or not. The caller holds mu.
func (l *Log) landed(group []*pending, err error) {
	if len(group) > 0 && err == nil {
		l.durable, l.durableEpoch = l.tail.head.Head, l.tail.head.epoch
		l.tailFirst, l.tailBytes = l.tail.first, l.tail.high.Load()
	}
	if len(group) > 0 || err != nil {
		l.announce()
	}
	if err == nil && l.durable.Sequence >= l.indexedTo+indexEvery {
		l.indexedTo = l.durable.Sequence
		l.background.Go(l.indexSoFar)
	}
}
