package line

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog"
	"github.com/jobledger/jobledger/store/natslog/fence"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

// Config configures a Line. All fields but Reader are required.
type Config struct {
	Stream *stream.Stream
	Key    events.Hash          // SHA-256 of the log's KEY
	Reader events.ReaderVersion // what this program can read; a number 0 is not compared
}

// Term is the content of a claim, the message with which a process becomes the writer of a log.
type Term struct {
	Identity events.Identity      // ID and epoch of the log at Head
	Head     store.Head           // last durable record of the log on this process's disk, after which it will write
	Term     uint64               // number of the new writer; higher than in every earlier claim
	Least    events.ReaderVersion // minimum version of a reader of the claim
}

// ErrOvertaken is the error of Claim when records of the old writer reached the stream before the claim. They are part
// of the log: the caller must append them, and claim again.
var ErrOvertaken = errors.New("records came into the stream before the claim")

var errNoClaim = errors.New("store in the stream: this process has not claimed it")

// Line is the writer of a log's stream on NATS.
type Line struct {
	config Config
	began  time.Time // time 0 of the state machine's clock
	groups chan group
	ended  chan struct{} // closed when Run has returned
	why    error         // why Run has ended; read only after ended is closed
	term   uint64        // number in this process's claim; 0 before the claim
	writer string

	waiting atomic.Int64 // bytes that were appended and are not durable yet

	mu      sync.Mutex
	machine fence.Machine
}

// group is a request to the goroutine Run: put these messages, which have a group of records, into the stream.
type group struct {
	messages [][]byte
	stored   chan error // receives the outcome, once; has capacity 1
}

// New returns a Line. It cannot write before Claim.
func New(c Config) *Line {
	return &Line{config: c, began: time.Now(), groups: make(chan group), ended: make(chan struct{})}
}

// Key returns the SHA-256 of the log's KEY.
func (l *Line) Key() events.Hash { return l.config.Key }

// Claim makes this process the writer of the stream, by a message with a new term (number of the writer). state is what
// the caller has read of the stream; the message is stored right after it. Claim returns when the message is in the
// stream and counts. Errors are ErrOvertaken, store.ErrFenced if another process claimed the stream first, and ctx's
// error if ctx ends before the outcome is known. The caller may call it again with a later state.
func (l *Line) Claim(ctx context.Context, state natslog.State, t Term) error {
	writer := rand.Text()
	messages, err := natslog.Encode(natslog.Segment{
		Kind: natslog.Claim, Identity: t.Identity, Term: t.Term, Writer: writer, Before: t.Head, After: t.Head,
		Least: t.Least, Key: l.config.Key, Part: 1, Parts: 1,
	}, l.config.Stream.MaxMessage())
	if err != nil {
		return fmt.Errorf("claim the stream: %w", err)
	}
	l.mu.Lock()
	l.machine = fence.New(l.now(), state, l.config.Reader)
	l.mu.Unlock()
	a, err := l.store(ctx, messages)
	switch {
	case err != nil:
		return fmt.Errorf("claim the stream in term %d: %w", t.Term, err)
	case a.Overtaken != nil:
		return ErrOvertaken
	}
	l.term, l.writer = t.Term, writer
	return nil
}

// Refill stores in the stream again groups of records that the log has and the stream has lost. The first group
// continues the record that the claim named. Call it after Claim and before Run. stop is called before each group; if
// it returns an error, Refill ends with it.
func (l *Line) Refill(ctx context.Context, groups iter.Seq2[store.Group, error], stop func() error) error {
	for g, err := range groups {
		if err == nil {
			err = stop()
		}
		var messages [][]byte
		if err == nil {
			messages, err = natslog.Encode(natslog.GroupOf(g, l.term, l.writer, l.config.Key), l.config.Stream.MaxMessage())
		}
		if err == nil {
			_, err = l.store(ctx, messages)
		}
		if err != nil {
			return fmt.Errorf("store records of the log in the stream again: %w", err)
		}
	}
	return nil
}

// Before is the function for store.Options.Before: it returns nil when the group of records is stored in the stream.
// Otherwise it returns why Run has ended, for example ErrFenced; it is then unknown whether the group is stored.
func (l *Line) Before(g store.Group) error {
	if l.term == 0 {
		return errNoClaim
	}
	segment := natslog.GroupOf(g, l.term, l.writer, l.config.Key)
	messages, err := natslog.Encode(segment, l.config.Stream.MaxMessage())
	if err != nil {
		return err
	}
	if err = l.give(context.Background(), messages); err == nil {
		for _, stored := range g.Stored {
			l.waiting.Add(-int64(len(stored)))
		}
	}
	return err
}

// Release gives up the term: it stores a message that this writer sends nothing more after the record `head`. Before
// then fails. Run must still be running, and all appended records must be durable. id is the log's ID and epoch. After
// an error it is unknown whether the message is in the stream.
func (l *Line) Release(ctx context.Context, id events.Identity, head store.Head) error {
	if l.term == 0 {
		return errNoClaim
	}
	messages, err := natslog.Encode(natslog.Segment{
		Kind: natslog.Released, Identity: id, Term: l.term, Writer: l.writer, Before: head, After: head,
		Key: l.config.Key, Part: 1, Parts: 1,
	}, l.config.Stream.MaxMessage())
	if err == nil {
		err = l.give(ctx, messages)
	}
	if err != nil {
		return fmt.Errorf("release the stream in term %d: %w", l.term, err)
	}
	return nil
}

// give passes messages to Run, and waits until they are in the stream. It returns an error if Run ends first.
func (l *Line) give(ctx context.Context, messages [][]byte) error {
	own := group{messages, make(chan error, 1)}
	select {
	case l.groups <- own:
	case <-l.ended:
		return l.why
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-own.stored:
		return err
	case <-l.ended:
		return l.why
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Room returns store.ErrNoRoom while the stream is full or cannot be reached.
func (l *Line) Room() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.machine.Room(l.now(), l.waiting.Load())
}

// Waits returns how long the group being stored has waited for the stream; 0 if there is none.
func (l *Line) Waits() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.machine.Waits(l.now())
}

// State returns what is known of the stream after the last message that this process stored or read.
func (l *Line) State() natslog.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.machine.State()
}

func (l *Line) now() time.Duration { return time.Since(l.began) }
