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

// After which time the number of records read is first shown, and how often.
const (
	readingAfter = time.Second // a command that takes less time shows nothing
	readingEvery = 200 * time.Millisecond
)

// Reading shows on a terminal how many records a command has read. It begins after the first second, and ends when the
// command prints its answer. So the user of a large log sees that the command is working. It is safe for concurrent
// use.
type Reading struct {
	out io.Writer
	now func() time.Time

	mu    sync.Mutex
	began time.Time
	told  time.Time // when the number was last printed; zero if it is not on the screen
	n     uint64
	over  bool // nothing is shown any more: the answer is being printed, or a Progress is shown
}

// NewReading returns a Reading that counts from zero. now is the clock.
func NewReading(out io.Writer, now func() time.Time) *Reading {
	return &Reading{out: out, now: now, began: now()}
}

func (r *Reading) record() { r.read(1) }

// read adds to the number of records that were read.
func (r *Reading) read(records uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n += records
	if now := r.now(); !r.over && now.Sub(r.began) > readingAfter && now.Sub(r.told) > readingEvery {
		r.told = now
		fmt.Fprintf(r.out, "\rreading the log: %d records", r.n)
	}
}

// clear removes the number from the terminal. The next record shows it again, unless end is true.
func (r *Reading) clear(end bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.told.IsZero() {
		fmt.Fprint(r.out, "\r\x1b[K")
		r.told = time.Time{}
	}
	r.over = r.over || end
}

// shownBy is a writer to a terminal that may show the number of records read. If answer is true, the first write ends
// that display; otherwise the text is printed above it.
type shownBy struct {
	io.Writer
	reading *Reading
	answer  bool
}

func (w *shownBy) Write(b []byte) (int, error) {
	w.reading.clear(w.answer)
	return w.Writer.Write(b)
}

// ShowReading makes the terminal show how many records were read, if standard error is a terminal.
func (c *CLI) ShowReading() {
	if _, ok := Terminal(c.Err); ok {
		c.Show(NewReading(c.Err, time.Now))
	}
}

// Show makes the terminal show the number that r counts, until the answer is printed.
func (c *CLI) Show(r *Reading) {
	c.Reads = r
	c.Out, c.Err = &shownBy{c.Out, r, true}, &shownBy{c.Err, r, false}
}

// countedLog is a log that counts the records read from it, for the terminal.
type countedLog struct {
	store.Archive
	reading *Reading
}

// counting returns an iterator that yields the records of all, and counts them for the terminal.
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

// Read implements store.Reader: it yields the log's records from record from on, and counts them.
func (l countedLog) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return l.reading.counting(l.Archive.Read(ctx, from))
}

// ReadStream implements store.Reader: it yields the records of one stream, such as one Job's, and counts them.
func (l countedLog) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return l.reading.counting(l.Archive.ReadStream(ctx, s, from, dir))
}

// countedSource is a controller's log, which counts the records that the controller sends. Those of Follow are not
// counted.
type countedSource struct {
	history.Source
	reading *Reading
}

// Read implements history.Source: it yields the records from record from on, and counts them.
func (s countedSource) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return s.reading.counting(s.Source.Read(ctx, from))
}

// ReadStream implements history.Source: it yields the records of one stream, such as one Job's, and counts them.
func (s countedSource) ReadStream(ctx context.Context, st events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return s.reading.counting(s.Source.ReadStream(ctx, st, from, dir))
}

// Records implements history.Source: it yields the records that a query selects, and counts them.
func (s countedSource) Records(ctx context.Context, q history.Query) iter.Seq2[events.Record, error] {
	return s.reading.counting(s.Source.Records(ctx, q))
}
