package livetail

import (
	"cmp"
	"context"
	"iter"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// defaultBytes is the size of the cache unless New gets another one: enough for about 4,000 records of 1 KiB in memory.
const defaultBytes = 4 << 20

// Log is a log with a cache of its newest batches. Use New to create one.
type Log struct {
	store.Log
	limit int

	fromMemory, fromLog atomic.Uint64

	mu    sync.Mutex
	kept  []kept // consecutive, oldest first; durable or not
	bytes int    // total size. Invariant: bytes <= limit, or only one batch is cached
}

// kept is a batch in the cache, and its approximate size in memory.
type kept struct {
	events.Batch
	bytes int
}

var _ store.Log = (*Log)(nil)

// New wraps log with a cache of about `bytes` bytes, but at least one batch; 0 means 4 MiB.
func New(log store.Log, bytes int) *Log {
	return &Log{Log: log, limit: cmp.Or(bytes, defaultBytes)}
}

// Append implements store.Log: it adds the batch to the cache, and appends it to the wrapped log. If the cache is full,
// its oldest batches are dropped.
func (l *Log) Append(b events.Batch, soon bool) store.Commit {
	l.mu.Lock()
	// The batch must be in the cache first: a reader that learns from the wrapped log that it is durable looks here.
	l.kept = append(l.kept, kept{Batch: b})
	l.mu.Unlock()
	commit := l.Log.Append(b, soon)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) == 0 { // Close has emptied the cache meanwhile
		return commit
	}
	k := &l.kept[len(l.kept)-1]
	k.bytes = weigh(b, commit.Bytes())
	for l.bytes += k.bytes; l.bytes > l.limit && len(l.kept) > 1; l.kept = l.kept[1:] {
		l.bytes -= l.kept[0].bytes
		// Lets the garbage collector free the batch, although the slice's array still has its place.
		l.kept[0] = kept{}
	}
	return commit
}

// weigh estimates the memory that a batch takes: its records, and twice their stored size (stored) for the strings and
// other data to which they point.
func weigh(b events.Batch, stored int) int {
	return len(b.Records)*int(unsafe.Sizeof(events.Record{})) + 2*stored
}

// Read implements store.Log: it returns records from the cache as far as they are there, the others from the wrapped
// log.
func (l *Log) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		head := l.Head().Sequence
		for next := from; next == 0 || next <= head; {
			b, ok := l.batch(next)
			if !ok {
				l.readOn(ctx, next, yield)
				return
			}
			for i := int(next - b.First()); i < len(b.Records); i++ {
				if err := ctx.Err(); err != nil {
					yield(events.Record{}, err)
					return
				}
				l.fromMemory.Add(1)
				if !yield(b.Records[i], nil) {
					return
				}
			}
			next = b.Last() + 1
		}
	}
}

// readOn yields the records from record `from` on, read from the wrapped log, because the cache lacks them.
func (l *Log) readOn(ctx context.Context, from events.Sequence, yield func(events.Record, error) bool) {
	for r, err := range l.Log.Read(ctx, from) {
		if err == nil {
			l.fromLog.Add(1)
		}
		if !yield(r, err) {
			return
		}
	}
}

// batch returns the batch that contains record `at`, if it is cached.
func (l *Log) batch(at events.Sequence) (events.Batch, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) == 0 || at < l.kept[0].First() {
		return events.Batch{}, false
	}
	i := sort.Search(len(l.kept), func(i int) bool { return l.kept[i].First() > at }) - 1
	return l.kept[i].Batch, at <= l.kept[i].Last()
}

// Close implements store.Log: it empties the cache, and closes the wrapped log.
func (l *Log) Close() error {
	l.mu.Lock()
	l.kept, l.bytes = nil, 0
	l.mu.Unlock()
	return l.Log.Close()
}

// Served returns how many records readers got from the cache, and how many from the wrapped log.
func (l *Log) Served() (memory, log uint64) { return l.fromMemory.Load(), l.fromLog.Load() }
