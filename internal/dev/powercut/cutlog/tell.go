package cutlog

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Teller is a log that reports appends and acknowledgements on out, one line each. Create it with Tell.
//
//	append SEQ HEX…            the stored form of a batch's records, before the append
//	durable SEQ                a commit was acknowledged through this record
//	offset NAME SEQ            a consumer's offset is durable
//	snapshot SEQ               a snapshot was saved
//	key HEX                    the key was created or read
type Teller struct {
	store.Log
	out io.Writer

	mu      sync.Mutex
	offsets map[string]events.Sequence // offsets that were set since the last append
	failed  error
}

// Tell returns log with reports on out. It writes each report at once, in one write.
func Tell(log store.Log, out io.Writer) *Teller {
	return &Teller{Log: log, out: out, offsets: map[string]events.Sequence{}}
}

func (t *Teller) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := fmt.Fprintf(t.out, format+"\n", args...); err != nil && t.failed == nil {
		t.failed = err
	}
}

// Append implements store.Log: it appends a batch, and reports it before and after. The commit is done only when the
// report of the acknowledgement is written. The log uses soon.
func (t *Teller) Append(b events.Batch, soon bool) store.Commit {
	var line strings.Builder
	for i := range b.Records {
		stored, err := events.AppendRecord(nil, &b.Records[i])
		if err != nil {
			break // no report is complete then, and the log's own Append returns the error
		}
		line.WriteString(" " + hex.EncodeToString(stored))
	}
	t.say("append %d%s", b.First(), line.String())
	t.mu.Lock()
	offsets := t.offsets
	t.offsets = map[string]events.Sequence{}
	t.mu.Unlock()
	c := &told{Commit: t.Log.Append(b, soon), done: make(chan struct{})}
	go func() { // this goroutine ends when the batch is durable, or its commit has failed
		defer close(c.done)
		<-c.Commit.Done()
		if c.Commit.Err() != nil {
			return
		}
		t.say("durable %d", b.Last())
		t.sayOffsets(offsets)
	}()
	return c
}

func (t *Teller) sayOffsets(offsets map[string]events.Sequence) {
	for _, name := range slices.Sorted(maps.Keys(offsets)) {
		t.say("offset %s %d", name, offsets[name])
	}
}

type told struct {
	store.Commit
	done chan struct{}
}

func (c *told) Done() <-chan struct{} { return c.done }

// SetOffset implements store.Log: it sets an offset. The next commit makes the offset durable, and then it is reported.
func (t *Teller) SetOffset(consumer string, through events.Sequence) error {
	err := t.Log.SetOffset(consumer, through)
	if err == nil {
		t.mu.Lock()
		t.offsets[consumer] = through
		t.mu.Unlock()
	}
	return err
}

// SaveSnapshot implements store.Log: it saves a snapshot, and reports it.
func (t *Teller) SaveSnapshot(ctx context.Context, s store.Snapshot) error {
	err := t.Log.SaveSnapshot(ctx, s)
	if err == nil {
		t.say("snapshot %d", s.Head.Sequence)
	}
	return err
}

// Key writes the log's key to the report, so that after a power cut a check can demand the same key. The caller has
// created or read it.
func (t *Teller) Key(key events.Key) { t.say("key %x", key[:]) }

// Close closes the log, and reports the offsets that the close made durable.
func (t *Teller) Close() error {
	if err := t.Log.Close(); err != nil {
		return err
	}
	t.mu.Lock()
	offsets := t.offsets
	t.mu.Unlock()
	t.sayOffsets(offsets)
	return t.failed
}
