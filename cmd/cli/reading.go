package cli

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// The pace of what a terminal is shown while a command reads.
const (
	readingAfter = time.Second // a command that takes no longer shows nothing
	readingEvery = 200 * time.Millisecond
)

// Reading shows on a terminal how many records a command has read, once that takes longer than a second, and until it
// writes its answer: who waits for a large log sees that it goes on. It is safe for concurrent use.
type Reading struct {
	out io.Writer
	now func() time.Time

	mu    sync.Mutex
	began time.Time
	told  time.Time // when it was shown last; zero when it is not shown
	n     uint64
	over  bool // the answer is written, or something else shows how far it is
}

// NewReading begins to count; now is the clock.
func NewReading(out io.Writer, now func() time.Time) *Reading {
	return &Reading{out: out, now: now, began: now()}
}

// record counts one that was read.
func (r *Reading) record() { r.read(1) }

// read counts some that were read.
func (r *Reading) read(records uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n += records
	if now := r.now(); !r.over && now.Sub(r.began) > readingAfter && now.Sub(r.told) > readingEvery {
		r.told = now
		fmt.Fprintf(r.out, "\rreading the log: %d records", r.n)
	}
}

// clear takes the line off the terminal. It comes again, unless that is the end.
func (r *Reading) clear(end bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.told.IsZero() {
		fmt.Fprint(r.out, "\r\x1b[K")
		r.told = time.Time{}
	}
	r.over = r.over || end
}

// shownBy writes to a terminal on which a reading may be shown. With the first byte of the answer that ends; notes go
// above it.
type shownBy struct {
	io.Writer
	reading *Reading
	answer  bool
}

func (w *shownBy) Write(b []byte) (int, error) {
	w.reading.clear(w.answer)
	return w.Writer.Write(b)
}

// ShowReading shows how far reading is, where notes go to a terminal.
func (c *CLI) ShowReading() {
	if _, ok := Terminal(c.Err); ok {
		c.Show(NewReading(c.Err, time.Now))
	}
}

// Show shows how far reading is, above the answer.
func (c *CLI) Show(r *Reading) {
	c.Reads = r
	c.Out, c.Err = &shownBy{c.Out, r, true}, &shownBy{c.Err, r, false}
}

// countedLog is a log whose records are counted as they are read.
type countedLog struct {
	store.Archive
	reading *Reading
}

// counting counts records as they are read.
func (r *Reading) counting(all iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for rec, err := range all {
			r.record()
			if !yield(rec, err) {
				return
			}
		}
	}
}

// Read is described by store.Reader.
func (l countedLog) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return l.reading.counting(l.Archive.Read(ctx, from))
}

// ReadStream is described by store.Reader.
func (l countedLog) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return l.reading.counting(l.Archive.ReadStream(ctx, s, from, dir))
}

// countedSource is a controller that is asked: its records are counted as they come. Those that follow are not.
type countedSource struct {
	history.Source
	reading *Reading
}

// Read is described by history.Source.
func (s countedSource) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return s.reading.counting(s.Source.Read(ctx, from))
}

// ReadStream is described by history.Source.
func (s countedSource) ReadStream(ctx context.Context, st events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return s.reading.counting(s.Source.ReadStream(ctx, st, from, dir))
}

// Records is described by history.Source.
func (s countedSource) Records(ctx context.Context, q history.Query) iter.Seq2[events.Record, error] {
	return s.reading.counting(s.Source.Records(ctx, q))
}
