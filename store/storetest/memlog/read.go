package memlog

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/index"
)

// prefix returns the durable records in stored form. They never change, so a reader needs no lock.
func (l *Log) prefix() ([][]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, store.ErrClosed
	}
	return l.records[:l.head(l.durable).Sequence], nil
}

// Read implements store.Log: it returns the durable records from record `from` on; 0 means all.
func (l *Log) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		records, err := l.prefix()
		if err != nil {
			yield(events.Record{}, err)
			return
		}
		for s := max(from, 1); int(s) <= len(records); s++ {
			if r, err := decode(ctx, records, s); !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// ReadStream implements store.Log: it returns the durable records of one stream (Job or CronJob), from record `from` on
// in direction dir.
func (l *Log) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		records, err := l.prefix()
		if err != nil {
			yield(events.Record{}, err)
			return
		}
		lo, hi := events.Sequence(1), events.Sequence(len(records))
		if dir == store.Forward {
			lo = max(from, lo)
		} else if from > 0 {
			hi = min(from, hi)
		}
		run := l.index.Run(s, lo, hi)
		for i := range run.Len() {
			if dir != store.Forward {
				i = run.Len() - 1 - i
			}
			if r, err := decode(ctx, records, run.At(i)); !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// Newest implements store.Reader: it returns the stream's last durable record; 0 for none.
func (l *Log) Newest(s events.Stream, _ events.Time) (events.Sequence, error) {
	records, err := l.prefix()
	if err != nil {
		return 0, err
	}
	run := l.index.Run(s, 1, events.Sequence(len(records)))
	if run.Len() == 0 {
		return 0, nil
	}
	return run.At(run.Len() - 1), nil
}

func decode(ctx context.Context, records [][]byte, s events.Sequence) (events.Record, error) {
	if err := ctx.Err(); err != nil {
		return events.Record{}, err
	}
	r, err := events.DecodeRecord(records[s-1])
	if err != nil {
		return events.Record{}, fmt.Errorf("read record %d: %w", s, &store.CorruptError{At: s, Cause: err})
	}
	return r, nil
}

// Chain implements store.Log: it returns the chain value (hash over all records so far) after record `at`. It computes
// it from the end of the batch before.
func (l *Log) Chain(at events.Sequence) (events.Hash, error) {
	records, err := l.prefix()
	switch {
	case err != nil:
		return events.Hash{}, err
	case int(at) > len(records):
		return events.Hash{}, fmt.Errorf("record %d is not in the durable log", at)
	}
	l.mu.Lock()
	ends, _ := slices.BinarySearchFunc(l.batches, at+1, func(b *batch, s events.Sequence) int {
		return cmp.Compare(b.Work.head.Sequence, s)
	})
	from := l.head(ends)
	l.mu.Unlock()
	hash := from.Hash
	for _, stored := range records[from.Sequence:at] {
		if hash, err = hash.Next(stored); err != nil {
			return events.Hash{}, err
		}
	}
	return hash, nil
}

// Find implements store.Log: it returns the streams (Jobs, CronJobs) whose object had this name, newest first.
func (l *Log) Find(namespace, name string) ([]events.Stream, error) {
	records, err := l.prefix()
	if err != nil {
		return nil, err
	}
	var out []events.Stream
	for _, b := range slices.Backward(l.index.Bearers(index.Name{Namespace: namespace, Name: name}, events.Sequence(len(records)))) {
		out = append(out, b.Stream)
	}
	return out, nil
}
