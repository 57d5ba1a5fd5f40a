package boltlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/chunk"
	"github.com/jobledger/jobledger/store/internal/commit"
	"github.com/jobledger/jobledger/store/internal/index"
)

// Log is an open log with its writer: it appends records and reads them. Use Open to create one.
type Log struct {
	*logReader
	options store.Options
	effects effects
	lock    *os.File

	// The fields below may be used only by the writer's goroutine.
	term       uint64          // term of this process as the writer; no record has a later one
	said       uint64          // term in the newest TermStarted record (the first record of a writer) that was appended
	appended   events.Sequence // last record that was appended; durable <= appended
	filling                    // embedded: what the writer knows about the file to which the next batch is appended
	filled     filling         // the file before that one; zero if it was full before this process opened the log
	states     atomic.Int64    // bytes of stored states (a Job's folded state as a record) in the file before
	space      sync.Mutex      // guards tail, spare and their reserved space; locked before logReader.mu
	tail       *tail           // newest file; belongs to the commit goroutine, and is replaced only while space is held
	spare      *tail           // file that was created ahead for the next rotation; nil if there is none
	background sync.WaitGroup  // goroutines that index sealed files or pack; they end by themselves or with the log
	witness    sync.WaitGroup  // counts noteHeads, the goroutine that writes the file HEAD
	// Held while the file HEAD (a note of the last durable record) is written; locked before logReader.mu
	noting   sync.Mutex
	indexing sync.Mutex // held while a sealed file is indexed, because each index extends the previous one

	pruning sync.Mutex               // held while files are deleted
	leaving []leavingFile            // files that are pruned but not removed yet, oldest first. Guarded by pruning
	notedAt events.Sequence          // sequence in the file PRUNING; 0 without that file. Guarded by pruning
	packing sync.Mutex               // held by Pack, which compresses sealed files
	packed  map[events.Sequence]bool // by first record: files that are packed or must not be. Guarded by packing

	// The fields below are guarded by logReader.mu.
	queue   *commit.Queue[work]
	offsets map[string]events.Sequence
	losses  []events.Loss // lost records: ranges that the log once had; nil after GoOn
	// the highest First (first record that pruning keeps) of all Pruned records; cutAt is the sequence of that record
	cut   events.Sequence
	cutAt events.Sequence
	// first record of the file of the last commit; the next field, tailBytes, has the bytes in use of that file
	tailFirst events.Sequence
	tailBytes int64
	indexedTo events.Sequence // approximately the last record that the stored index of the newest file covers

	asked  sync.Once // makes the first call of Damage do its check, and later calls return the same result
	unsaid error     // set if the first records of the log are missing and no Pruned record explains it

	committed chan struct{} // closed when the committer has ended
}

// filling is what the writer knows about the file to which it appends, or has appended.
type filling struct {
	nextFile  events.Sequence // first record of the file
	nextIndex *index.Index
	nextBytes int64 // bytes appended to the file
	filing    store.Filing
	began     events.Time // time of the first record; 0 if there is none yet
}

var _ store.Log = (*Log)(nil)

// Damage implements store.Opened: it returns the damage that is known without reading the whole log. It only reports
// that the first records are missing, because Open refuses a log with any other defect between its files.
func (l *Log) Damage() []error {
	l.asked.Do(func() {
		if s, err := l.view(); err == nil && s.files[0].first > 1 {
			l.unsaid = l.admitted(context.Background(), s.files[0])
		}
	})
	if !errors.Is(l.unsaid, store.ErrCorrupt) {
		return nil
	}
	return []error{l.unsaid}
}

// Term implements store.Log: it returns the number of this process's time as the writer.
func (l *Log) Term() uint64 { return l.term }

// NextFile implements store.Log: it returns the first record of the file to which the next batch is appended.
func (l *Log) NextFile() events.Sequence { return l.nextFile }

// Append implements store.Log: it queues a batch of records for the commit goroutine, and returns at once. If the batch
// does not continue the last one, the log fails. soon starts a commit without delay.
func (l *Log) Append(b events.Batch, soon bool) store.Commit {
	p := commit.NewBatch[work]()
	p.Work = work{first: b.First(), file: l.nextFile, index: l.nextIndex}
	identity := l.Identity()
	err := store.CheckBatch(l.appended, b)
	if err == nil {
		identity, err = l.encode(p, b, identity)
	}
	return l.push(p, b, identity, soon, err)
}

// push queues a batch for the goroutine that commits. identity is the log's ID and epoch after the batch. If err is not
// nil, the batch is refused, and the log fails with err. soon starts a commit without delay.
func (l *Log) push(p *pending, b events.Batch, identity events.Identity, soon bool, err error) store.Commit {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ended := l.queue.Ended(); ended != nil {
		p.End(ended)
		return p
	}
	if err != nil {
		l.queue.Fail(err, p)
		l.announce()
		return p
	}
	l.identity, p.Work.epoch, p.Work.term = identity, identity.Epoch, l.term
	l.appended = b.Last()
	if l.began == 0 {
		l.began = b.Records[0].Time
	}
	l.noteCut(b)
	p.Work.after = store.Head{Sequence: b.Last(), Time: b.Records[len(b.Records)-1].Time}
	l.queue.Push(p, soon)
	l.turnOver(p)
	return p
}

// encode encodes the records of b into p, and adds them to the index. identity is the log's ID and epoch before b;
// encode returns the one after b. Readers ignore index entries that are not durable yet.
func (l *Log) encode(p *pending, b events.Batch, identity events.Identity) (events.Identity, error) {
	// 256 bytes suffice for most records; otherwise append allocates again
	arena := make([]byte, 0, 256*len(b.Records))
	bytes := int64(0)
	for i := range b.Records {
		start := len(arena)
		var err error
		if arena, err = events.AppendRecord(arena, &b.Records[i]); err != nil {
			return identity, err
		}
		// The capacity of stored ends with the record, so a later append cannot overwrite it.
		stored := arena[start:len(arena):len(arena)]
		if identity, err = l.admit(p, &b.Records[i], stored, identity); err != nil {
			return identity, err
		}
		bytes += int64(len(stored))
	}
	p.Size(len(b.Records), bytes)
	return identity, nil
}

// admit checks a record and adds it to the batch p and to the index. identity is the log's ID and epoch before the
// record; admit returns the one after it.
func (l *Log) admit(p *pending, r *events.Record, stored []byte, identity events.Identity) (events.Identity, error) {
	if last := l.nextIndex.Last(r.Stream); last != r.Previous && (last != 0 || r.Previous >= l.nextFile) {
		return identity, fmt.Errorf("append record %d: its previous pointer says %d, the stream's last is %d",
			r.Sequence, r.Previous, last)
	}
	if len(stored) > chunk.MaxRecordBytes {
		return identity, fmt.Errorf("append record %d: it has %d bytes, more than a record can have", r.Sequence, len(stored))
	}
	identity, err := store.NextIdentity(identity, r)
	if err != nil {
		return identity, err
	}
	if f, ok := r.Facts.(*events.TermStarted); ok { // records of another log may have a later term
		l.term, l.said = max(l.term, f.Term), max(l.said, f.Term)
	}
	l.nextIndex.AddRecord(r)
	l.filing.Note(r.Kind, r.Sequence == l.nextFile, len(stored))
	p.Work.stored = append(p.Work.stored, stored)
	return identity, nil
}

// turnOver decides after batch p whether the next batch begins another file, because of the size or age of the
// current one. After AppendStored it decides nothing, because each such batch says itself whether it begins a file.
// The caller holds mu.
func (l *Log) turnOver(p *pending) {
	l.nextBytes += int64(p.Bytes() + p.Bytes()/8) // approximate size in the file: 1/8 for overhead
	if p.Work.given {
		return
	}
	size := l.nextBytes
	if l.tailFirst == l.nextFile {
		size = max(size, l.tailBytes+l.queue.Waiting())
	}
	if l.full(size, p.Work.after.Time) {
		l.beginFile(p.Work.after.Sequence + 1)
	}
}

// goOn sets the writer's fields so that the next batch follows head end (the last record, its chain hash and time). f
// is the newest file, x its index, said what its records say about pruning and states.
func (l *Log) goOn(f *logFile, x *index.Index, said fileSays, end head) {
	l.appended, l.nextFile, l.nextIndex, l.filing = end.Sequence, f.first, x, said.filing
	l.cut, l.cutAt = said.cut, said.cutAt
	l.indexedTo = end.Sequence
	l.states.Store(l.filing.States())
	l.nextBytes, l.tailFirst, l.tailBytes = l.tail.high.Load(), f.first, l.tail.high.Load()
	if end.Sequence >= f.first {
		first, _, err := (view{files: l.files, durable: end.Head}).one(f.first, nearChunk{})
		if err == nil { // if this fails, the file was damaged after the check at the open; began then stays unset
			l.began = first.Time
		}
	}
	if end.Sequence >= f.first && l.full(l.tailBytes, end.Time) {
		l.beginFile(end.Sequence + 1)
	}
}

// full reports whether the current file is old enough, or with `size` bytes large enough, to be followed by another
// file. now is the time of the newest record.
func (l *Log) full(size int64, now events.Time) bool {
	o := &l.options
	old := o.RotateAfter > 0 && l.began != 0 && now.Sub(l.began) >= o.RotateAfter && !l.filing.Open()
	return old || l.filing.Full(size, o.RotateBytes, o.MaxBytes/roofShare)
}

// beginFile makes the next batch, whose first record is `first`, begin another file.
func (l *Log) beginFile(first events.Sequence) {
	l.states.Store(l.filing.States())
	l.filled, l.filling = l.filling, filling{nextFile: first, nextIndex: index.New(first)}
}

// Wait implements store.Log: it blocks until a record after `after` is durable, and returns the last durable record.
func (l *Log) Wait(ctx context.Context, after events.Sequence) (events.Sequence, error) {
	for {
		l.mu.Lock()
		head, changed := l.durable.Sequence, l.changed
		err := l.queue.Failed()
		if l.closed {
			err = store.ErrClosed
		}
		l.mu.Unlock()
		if head > after {
			return head, nil
		}
		if err != nil {
			return head, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return head, ctx.Err()
		}
	}
}

// Offset implements store.Log: it returns up to which record the consumer has read the log; 0 when unknown.
func (l *Log) Offset(consumer string) (events.Sequence, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, store.ErrClosed
	}
	return l.offsets[consumer], nil
}

// SetOffset implements store.Log: it sets up to which record the consumer has read the log. The next commit makes it
// durable.
func (l *Log) SetOffset(consumer string, through events.Sequence) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.queue.Ended(); err != nil {
		return err
	}
	if consumer == "" {
		return fmt.Errorf("set offset %d: the consumer has no name", through)
	}
	l.offsets[consumer] = through
	l.queue.SetOffset(consumer, through)
	return nil
}
