package replica

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

// atOnce is the number of groups that the follower appends before it waits until they are durable.
const atOnce = 256

// Log is the local log of a replica.
type Log interface {
	store.Reader
	store.Follower
	SetOffset(consumer string, through events.Sequence) error
}

// ErrBehind: the stream begins after the end of the local log. Only another replica has the records in between.
var ErrBehind = errors.New("the stream no longer has the records that this log lacks")

// ErrWentBack: the stream has lost messages that were read, and has other messages in their places, or none. The caller
// must call Begin again, which compares the stream with the log.
var ErrWentBack = errors.New("the stream has lost messages that were read")

// Follower reads a stream, and appends its records to a local log.
type Follower struct {
	s       *stream.Stream
	log     Log
	own     events.ReaderVersion
	reader  *stream.Reader
	state   natslog.State
	end     events.Sequence // last record of the log, durable or not
	newest  store.Commit    // commit of the newest batch; nil if all are durable
	waiting int             // number of groups appended since all were durable
	last    []byte          // SHA-256 of the newest message that was read; nil at first
	place   atomic.Uint64   // state.Place, for other goroutines
	ends    atomic.Uint64   // state.Head.Sequence, for other goroutines
	term    atomic.Uint64   // state.Term, for other goroutines
	voids   atomic.Uint64   // state.Voids, for other goroutines
	key     events.Hash     // key that each claim must have; zero for any

	released chan<- struct{} // set by TellReleased
}

// Begin returns a follower that reads s and writes log. It begins with the oldest message of the stream. The error is
// ErrBehind if the log lacks the records before that message, and store.ErrDiverged if the log has another record
// there.
func Begin(ctx context.Context, s *stream.Stream, log Log, own events.ReaderVersion) (*Follower, error) {
	f := &Follower{s: s, log: log, own: own, end: log.Head().Sequence, released: make(chan struct{}, 1)}
	now, err := s.Ask(ctx)
	if err != nil {
		return nil, err
	}
	if now.First > 1 {
		err = f.middle(ctx, now.First, now.Last)
	} else {
		err = f.base(ctx, now.First)
	}
	if err != nil {
		return nil, fmt.Errorf("follow the stream %s from place %d: %w", s.Name(), now.First, err)
	}
	f.place.Store(f.state.Place)
	f.reader = s.Read(f.state.Place + 1)
	return f, nil
}

// base compares the local log with the stream's first claim. The log may already have had records when the stream
// began.
func (f *Follower) base(ctx context.Context, first uint64) error {
	data, found, err := f.s.At(ctx, first)
	if err != nil || !found {
		return err
	}
	m, err := natslog.Decode(data)
	if err != nil || m.Kind != natslog.Claim {
		return nil //nolint:nilerr // void, or of a newer version: who reads it says so
	}
	return f.compare(m.Before)
}

// middle computes the state at the beginning of a stream whose oldest messages were removed, from its first message. If
// an operator removed them, the stream may begin with messages from which no reader can begin, or be empty; these
// places are skipped.
func (f *Follower) middle(ctx context.Context, first, last uint64) error {
	for place := first; place <= last; place++ {
		data, found, err := f.s.At(ctx, place)
		if err != nil {
			return err
		}
		if !found {
			return errors.New("a message of it is not there")
		}
		m, err := natslog.Decode(data)
		switch {
		case events.OtherReader(err):
			return err
		case err == nil && m.Part == 1:
			f.state = natslog.From(place, m)
			return f.compare(m.Before)
		}
	}
	f.state = natslog.State{Place: max(last, first-1)}
	return nil
}

// Expect sets the key of the log, as the SHA-256 of its KEY. If a claim then has another key, the follower ends with
// store.ErrOtherKey.
func (f *Follower) Expect(key events.Hash) { f.key = key }

// Place returns the newest place that was read. Any goroutine may call it.
func (f *Follower) Place() uint64 { return f.place.Load() }

// Voids returns how many of the messages that were read were void. Any goroutine may call it.
func (f *Follower) Voids() uint64 { return f.voids.Load() }

// Ends returns the last record of the stream as far as it was read, and the term of the newest claim; 0 if there is
// none. Any goroutine may call it.
func (f *Follower) Ends() (last events.Sequence, term uint64) {
	return events.Sequence(f.ends.Load()), f.term.Load()
}

// TellReleased sets a channel that tells that nobody leads. It gets a value when the writer has released its term, and
// the stream has no later message. The channel must have capacity 1.
func (f *Follower) TellReleased(released chan<- struct{}) { f.released = released }

// Same reports whether the stream still has the newest message that was read, or has removed it as an old one. If not,
// the stream has lost messages, or has other messages in their places.
func (f *Follower) Same(ctx context.Context) (bool, error) {
	if f.last == nil {
		return true, nil
	}
	data, found, err := f.s.At(ctx, f.state.Place)
	if err != nil {
		return false, err
	}
	if !found {
		now, err := f.s.Ask(ctx)
		return now.First > f.state.Place && now.Last >= f.state.Place, err
	}
	sum := sha256.Sum256(data)
	return bytes.Equal(sum[:], f.last), nil
}

// State returns the state of the stream, as far as it was read.
func (f *Follower) State() natslog.State { return f.state }

// Run follows the stream until ctx ends, and then returns ctx's error. If the log cannot be continued, it returns the
// reason.
func (f *Follower) Run(ctx context.Context) error {
	defer f.reader.Stop()
	for {
		if err := f.next(ctx); err != nil {
			return errors.Join(err, f.settle(context.WithoutCancel(ctx)))
		}
	}
}

// Through follows the stream until place was read and all records up to it are durable. If place was already read, it
// only waits until they are durable.
func (f *Follower) Through(ctx context.Context, place uint64) error {
	defer f.reader.Stop()
	for f.state.Place < place {
		if err := f.next(ctx); err != nil {
			return errors.Join(err, f.settle(context.WithoutCancel(ctx)))
		}
	}
	return f.settle(ctx)
}

func (f *Follower) next(ctx context.Context) error {
	m, err := f.reader.Next(ctx)
	if err != nil {
		return err
	}
	if err := f.take(ctx, m); err != nil {
		return fmt.Errorf("follow the stream %s at place %d: %w", f.s.Name(), m.Place, err)
	}
	return nil
}

// take handles the next message: it passes the message to natslog.Accept, and appends its records or applies its claim.
func (f *Follower) take(ctx context.Context, m stream.Message) error {
	state, v := natslog.Accept(f.state, m.Place, m.Data, f.own)
	var err error
	switch {
	case v.Outcome == natslog.Newer:
		err = v.Err
	case v.Outcome == natslog.Taken && v.Segment.Kind == natslog.Records:
		err = f.append(ctx, &v.Segment, m.Last)
	case v.Outcome == natslog.Taken && v.Segment.Kind == natslog.Claim:
		err = f.claim(ctx, &v.Segment)
	}
	// A reader that has missed nothing sees these two only if a message is forged.
	if v.Void == natslog.LaterTerm || v.Void == natslog.Ahead {
		same := false
		if same, err = f.Same(ctx); err == nil && !same {
			err = fmt.Errorf("%w: a message is %s", ErrWentBack, v.Void)
		}
	}
	if err != nil {
		return err
	}
	sum := sha256.Sum256(m.Data)
	f.state, f.last = state, sum[:]
	f.ends.Store(uint64(state.Head.Sequence))
	f.term.Store(state.Term)
	f.place.Store(state.Place)
	f.voids.Store(state.Voids)
	if m.Last && v.Outcome == natslog.Taken && v.Segment.Kind == natslog.Released {
		select {
		case f.released <- struct{}{}:
		default: // an earlier value is still in the channel
		}
	}
	return nil
}

// claim checks that a claim fits this log up to the claim's head, and sets the log's term.
func (f *Follower) claim(ctx context.Context, s *natslog.Segment) error {
	if own := f.log.Identity(); own.LogID != s.Identity.LogID {
		return fmt.Errorf("%w: it is of log %s, and this is %s", store.ErrForeign, s.Identity.LogID, own.LogID)
	}
	if f.key != (events.Hash{}) && s.Key != f.key {
		return fmt.Errorf("%w: a writer claimed the stream with it in term %d", store.ErrOtherKey, s.Term)
	}
	if err := f.settle(ctx); err != nil {
		return err
	}
	if err := f.compare(s.Before); err != nil {
		return err
	}
	if f.end > s.Before.Sequence {
		return nil // later records of the log have a later term
	}
	return f.log.SetTerm(s.Term)
}

// append appends the records of a group that the log lacks. If the log has all of them, it compares the chain value.
func (f *Follower) append(ctx context.Context, g *natslog.Segment, soon bool) error {
	if g.After.Sequence <= f.end {
		if err := f.settle(ctx); err != nil {
			return err
		}
		return f.compare(g.After)
	}
	if g.First > f.end+1 {
		return fmt.Errorf("%w: it ends with record %d", ErrBehind, f.end)
	}
	b := g.Batches()
	// If a crash has cut off a part of the group, the chain value at its end also proves that the existing records are
	// equal.
	if has := f.end + 1 - b.First; has > 0 {
		b.First, b.Records, b.BeginsFile = f.end+1, b.Records[has:], false
	}
	f.newest, f.end = f.log.AppendStored(b, soon), g.After.Sequence
	for consumer, through := range g.Offsets { // stored with this commit or a later one
		if err := f.log.SetOffset(consumer, through); err != nil {
			return err
		}
	}
	if f.waiting++; f.waiting >= atOnce {
		return f.settle(ctx)
	}
	select {
	case <-f.newest.Done():
		return f.settle(ctx)
	default:
		return nil
	}
}

// compare checks that the log contains a head of the stream.
func (f *Follower) compare(h store.Head) error {
	if h.Sequence > f.end {
		return fmt.Errorf("%w: it ends with record %d, the stream goes on behind %d", ErrBehind, f.end, h.Sequence)
	}
	hash, err := f.log.Chain(h.Sequence)
	switch {
	case errors.Is(err, store.ErrPruned):
		return nil
	case err != nil:
		return err
	case hash != h.Hash:
		return fmt.Errorf("%w: behind record %d the chain value is %s, the stream says %s",
			store.ErrDiverged, h.Sequence, hash, h.Hash)
	}
	return nil
}

// settle waits until all appended records are durable.
func (f *Follower) settle(ctx context.Context) error {
	if f.newest == nil {
		return nil
	}
	select {
	case <-f.newest.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	err := f.newest.Err()
	f.newest, f.waiting = nil, 0
	return err
}
