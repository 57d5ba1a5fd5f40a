package memlog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/commit"
	"github.com/jobledger/jobledger/store/internal/index"
)

// Log is a log in memory. Use New to create one.
type Log struct {
	term      uint64
	manual    bool
	fileBytes int
	short     bool // set by ShortFiles

	index *index.Index

	mu        sync.Mutex
	limit     int // limit of the bytes that Room grants; 0 for none
	identity  events.Identity
	records   [][]byte  // records in stored form; record n is at index n-1
	indexed   []indexed // index entry of each record
	bytes     int
	batches   []*batch
	durable   int // number of durable batches. Invariant: durable <= len(batches)
	queue     *commit.Queue[point]
	fileFirst events.Sequence
	fileSize  int64
	filing    store.Filing
	offsets   map[string]events.Sequence
	based     map[string]events.Sequence // consumers' offsets that were durable before the first batch
	snapshots []store.Snapshot
	changed   chan struct{} // closed and replaced when the head moves or the log ends
	closed    bool
}

// indexed is the index entry of a record. With it, Crash need not decode the record.
type indexed struct {
	stream events.Stream
	kind   events.Kind
	name   index.Name
}

// batch is one appended batch, with the state of the log after it (point).
type batch = commit.Batch[point]

// point is the state of the log after a batch: its last record, its ID and epoch, and what became durable with the
// batch.
type point struct {
	head     store.Head
	identity events.Identity
	offsets  map[string]events.Sequence // offsets that became durable with the batch
}

var _ store.Log = (*Log)(nil)

// Option changes the behaviour of a Log.
type Option func(*Log)

// Manual makes batches durable only when Commit is called. Without it each batch is durable at once.
func Manual() Option { return func(l *Log) { l.manual = true } }

// Limit limits the total bytes, in stored form, that Room grants. SetLimit changes it.
func Limit(bytes int) Option { return func(l *Log) { l.limit = bytes } }

// FileBytes makes NextFile advance as in a log on disk whose files have about `bytes` bytes.
func FileBytes(bytes int) Option { return func(l *Log) { l.fileBytes = bytes } }

// ShortFiles lets a file end at about `bytes` bytes once its checkpoint (stored states of all Jobs) is complete. With
// FileBytes it must also be ten times as large as the states in it. ShortFiles is for tests that need many files.
func ShortFiles(bytes int) Option {
	return func(l *Log) { l.fileBytes, l.short = bytes, true }
}

// fileFull reports whether the next batch begins another file: after fileBytes bytes, or as ShortFiles says.
func (l *Log) fileFull() bool {
	switch limit := int64(l.fileBytes); {
	case limit == 0:
		return false
	case l.short:
		return !l.filing.Open() && l.fileSize >= limit
	default:
		return l.filing.Full(l.fileSize, limit, 0)
	}
}

// New returns an empty log with this identity (log ID and epoch).
func New(identity events.Identity, options ...Option) *Log {
	l := &Log{
		term: 1, identity: identity, index: index.New(1), fileFirst: 1, queue: commit.New[point](nil), changed: make(chan struct{}),
		offsets: map[string]events.Sequence{}, based: map[string]events.Sequence{},
	}
	for _, o := range options {
		o(l)
	}
	return l
}

// Identity implements store.Log: it returns the log's ID, and its epoch after all appended records.
func (l *Log) Identity() events.Identity {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.identity
}

// Term implements store.Log: it returns the number of the writer, which the first writer begins with 1.
func (l *Log) Term() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.term
}

// Head implements store.Log: it returns the last durable record, with its chain hash and time.
func (l *Log) Head() store.Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head(l.durable)
}

func (l *Log) head(batches int) store.Head {
	if batches == 0 {
		return store.Head{}
	}
	return l.batches[batches-1].Work.head
}

// Room implements store.Log: it returns ErrNoRoom if the log would exceed its Limit.
func (l *Log) Room(bytes int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.queue.Ended(); err != nil {
		return err
	}
	if l.limit > 0 && l.bytes+bytes > l.limit {
		return fmt.Errorf("%d of %d bytes are used, %d more are asked for: %w", l.bytes, l.limit, bytes, store.ErrNoRoom)
	}
	return nil
}

// SetLimit changes the limit set by Limit; 0 removes it.
func (l *Log) SetLimit(bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = bytes
}

// NextFile implements store.Log: it returns the first record of the file to which the next batch would belong, if the
// log had files; 1 without FileBytes.
func (l *Log) NextFile() events.Sequence {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fileFirst
}

// Append implements store.Log: it adds a batch to the log. The batch is durable at once, or with Manual by the method
// Commit. If a batch breaks the contract, the log fails.
func (l *Log) Append(b events.Batch, soon bool) store.Commit {
	l.mu.Lock()
	defer l.mu.Unlock()
	entry := commit.NewBatch[point]()
	if err := l.queue.Ended(); err != nil {
		entry.End(err)
		return entry
	}
	if err := l.add(entry, b); err != nil {
		l.queue.Fail(err, entry)
		l.announce()
		return entry
	}
	l.queue.Push(entry, soon)
	if !l.manual {
		l.commit(l.queue.Len())
	}
	return entry
}

func (l *Log) add(entry *batch, b events.Batch) error {
	head := l.head(len(l.batches))
	if err := store.CheckBatch(head.Sequence, b); err != nil {
		return err
	}
	identity, size := l.identity, 0
	stored, taken := make([][]byte, 0, len(b.Records)), make([]indexed, 0, len(b.Records))
	for i := range b.Records {
		r := &b.Records[i]
		bytes, err := events.AppendRecord(nil, r)
		if err != nil {
			return err
		}
		if identity, err = store.NextIdentity(identity, r); err != nil {
			return err
		}
		if head.Hash, err = head.Hash.Next(bytes); err != nil {
			return err
		}
		if last := l.index.Last(r.Stream); r.Previous != last {
			return fmt.Errorf("append record %d: its previous pointer says %d, the stream's last is %d", r.Sequence, r.Previous, last)
		}
		if f, ok := r.Facts.(*events.TermStarted); ok {
			l.term = max(l.term, f.Term)
		}
		l.index.AddRecord(r)
		l.filing.Note(r.Kind, r.Sequence == l.fileFirst, len(bytes))
		stored, size = append(stored, bytes), size+len(bytes)
		taken = append(taken, indexed{r.Stream, r.Kind, nameIn(r)})
	}
	head.Sequence, head.Time = b.Last(), b.Records[0].Time
	entry.Work = point{head: head, identity: identity}
	entry.Size(len(b.Records), int64(size))
	l.identity = identity
	l.records, l.indexed = append(l.records, stored...), append(l.indexed, taken...)
	l.batches = append(l.batches, entry)
	l.bytes += size
	if l.fileSize += int64(size); l.fileFull() {
		l.fileFirst, l.fileSize, l.filing = b.Last()+1, 0, store.Filing{}
	}
	return nil
}

// Commit makes the next n appended batches durable, or all if there are fewer. It returns their number.
func (l *Log) Commit(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.commit(n)
}

func (l *Log) commit(n int) int {
	group, offsets := l.queue.TakeFirst(n), l.queue.Offsets()
	if len(group) == 0 {
		return 0
	}
	group[0].Work.offsets = offsets
	l.queue.Landed(group, offsets)
	l.durable += len(group)
	l.announce()
	for _, b := range group {
		b.End(nil)
	}
	return len(group)
}

func (l *Log) announce() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Fence simulates that another writer takes over: batches that are not durable, and all later ones, fail with
// ErrFenced.
func (l *Log) Fence() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue.Fail(store.ErrFenced)
	l.announce()
}

// Batches returns the numbers of appended and of durable batches.
func (l *Log) Batches() (appended, durable int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.batches), l.durable
}

// Crash returns the log that the next process finds if only the first `keep` batches have reached the disk. It does not
// change l, so a simulation can try every number of batches. Snapshots of later records remain, as they would on a
// disk, and are ignored.
func (l *Log) Crash(keep int) *Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	keep = min(keep, len(l.batches))
	c := New(l.identity)
	c.term = l.term + 1
	maps.Copy(c.based, l.based)
	maps.Copy(c.offsets, l.based)
	c.manual, c.limit, c.fileBytes, c.short = l.manual, l.limit, l.fileBytes, l.short
	if keep > 0 {
		c.identity = l.batches[keep-1].Work.identity
	} else {
		c.identity.Epoch = 1
	}
	for i, old := range l.batches[:keep] {
		kept := commit.NewBatch[point]()
		kept.Work = old.Work
		// The first batch that was not durable; its commit would also have stored the consumers' offsets.
		if i == l.durable {
			kept.Work.offsets = l.queue.Offsets()
		}
		kept.End(nil)
		c.batches = append(c.batches, kept)
		maps.Copy(c.offsets, kept.Work.offsets)
	}
	c.durable = keep
	head := c.head(keep).Sequence
	c.records, c.indexed = slices.Clone(l.records[:head]), slices.Clone(l.indexed[:head])
	for i, stored := range c.records {
		c.bytes += len(stored)
		header := events.Header{Sequence: events.Sequence(i + 1), Stream: c.indexed[i].stream, Kind: c.indexed[i].kind}
		c.filing.Note(header.Kind, header.Sequence == c.fileFirst, len(stored))
		c.fileSize += int64(len(stored))
		if c.fileFull() && c.endsBatch(events.Sequence(i+1)) {
			c.fileFirst, c.fileSize, c.filing = events.Sequence(i+2), 0, store.Filing{}
		}
		c.index.Add(&header, c.indexed[i].name)
	}
	c.snapshots = slices.Clone(l.snapshots)
	return c
}

func (l *Log) endsBatch(s events.Sequence) bool {
	_, found := slices.BinarySearchFunc(l.batches, s, func(b *batch, s events.Sequence) int {
		return int(int64(b.Work.head.Sequence) - int64(s))
	})
	return found
}

func nameIn(r *events.Record) index.Name {
	if !index.Named(&r.Header) {
		return index.Name{}
	}
	return index.Name{Namespace: r.Evidence.Namespace, Name: r.Evidence.Name}
}

// Wait implements store.Log: it blocks until a record after `after` is durable, and returns the last durable record.
func (l *Log) Wait(ctx context.Context, after events.Sequence) (events.Sequence, error) {
	for {
		l.mu.Lock()
		head, changed, err := l.head(l.durable).Sequence, l.changed, l.queue.Ended()
		l.mu.Unlock()
		switch {
		case head > after:
			return head, nil
		case err != nil:
			return head, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return head, ctx.Err()
		}
	}
}

// Offset implements store.Log: it returns up to which record the consumer has read; 0 when unknown.
func (l *Log) Offset(consumer string) (events.Sequence, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, store.ErrClosed
	}
	return l.offsets[consumer], nil
}

// SetOffset implements store.Log: it sets up to which record the consumer has read. The next commit makes it durable.
func (l *Log) SetOffset(consumer string, through events.Sequence) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.queue.Ended(); err != nil {
		return err
	}
	l.offsets[consumer] = through
	l.queue.SetOffset(consumer, through)
	return nil
}

// keepOffsets makes durable those consumers' offsets that were set after the last commit.
func (l *Log) keepOffsets() {
	rest := l.queue.Offsets()
	if rest == nil || l.queue.Failed() != nil {
		return
	}
	l.queue.Landed(nil, rest)
	if l.durable == 0 {
		maps.Copy(l.based, rest)
		return
	}
	at := &l.batches[l.durable-1].Work
	all := maps.Clone(at.offsets)
	if all == nil {
		all = map[string]events.Sequence{}
	}
	maps.Copy(all, rest)
	at.offsets = all
}

// Close implements store.Log: it makes all batches and offsets durable, and ends the log. To open the log again, use
// Crash with all its batches.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.queue.Close() {
		return nil
	}
	l.commit(l.queue.Len())
	l.keepOffsets()
	l.closed = true
	l.announce()
	return l.queue.Failed()
}
