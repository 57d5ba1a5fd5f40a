package line

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog"
	"github.com/jobledger/jobledger/store/natslog/fence"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

// Config is how a Line is made.
type Config struct {
	Stream *stream.Stream
	Key    events.Hash          // SHA-256 of the log's KEY
	Reader events.ReaderVersion // what this program can read; a number that is 0 is not compared
}

// Term is what a claim says of the log that goes on.
type Term struct {
	Identity events.Identity      // of the log at Head
	Head     store.Head           // of the leader's own log, durable
	Term     uint64               // above that of every claim before it
	Least    events.ReaderVersion // what a reader of the claim needs at least
}

// ErrOvertaken: records of the old leader came into the stream before the claim. They belong to the log: append them,
// and claim again.
var ErrOvertaken = errors.New("records came into the stream before the claim")

var errNoClaim = errors.New("store in the stream: this process has not claimed it")

// Line is the writer.
type Line struct {
	config Config
	began  time.Time // of the machine's clock
	groups chan group
	ended  chan struct{} // closed when Run has ended
	why    error         // of that end; read after ended alone
	term   uint64        // of the claim; 0 before it
	writer string

	waiting atomic.Int64 // bytes that were appended and are not stored

	mu      sync.Mutex
	machine fence.Machine
}

// group is what Before wants to be stored.
type group struct {
	messages [][]byte
	stored   chan error // has room for the one answer
}

// New makes a line that has not claimed its stream.
func New(c Config) *Line {
	return &Line{config: c, began: time.Now(), groups: make(chan group), ended: make(chan struct{})}
}

// Key is the SHA-256 of the log's KEY.
func (l *Line) Key() events.Hash { return l.config.Key }

// Claim begins a term behind what was read of the stream so far, which is state. It returns when the claim is in the
// stream and counts. The error is ErrOvertaken, or store.ErrFenced when another process claimed the stream first; ctx's
// when it ends before the outcome is known. It may be called again with a later state.
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

// Before stores a group: it is the hook of store.Options. It returns when the group is stored, or never will be known
// to be: ErrFenced, or why Run has ended.
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

// Release ends the term in good order, behind head: readers know that nothing of this writer follows, and Before fails.
// Run goes on meanwhile, and all that was appended is durable. An error says that it may not be in the stream.
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

// give waits until Run has stored messages.
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

// Room is store.ErrNoRoom while the stream has no room or is away.
func (l *Line) Room() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.machine.Room(l.now(), l.waiting.Load())
}

// Waits is how long the group on its way has waited for the stream; 0 when none is.
func (l *Line) Waits() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.machine.Waits(l.now())
}

// State is what the stream amounts to as far as the line knows it.
func (l *Line) State() natslog.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.machine.State()
}

func (l *Line) now() time.Duration { return time.Since(l.began) }
