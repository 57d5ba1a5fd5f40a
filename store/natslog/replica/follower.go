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

// atOnce is the number of groups of records that the follower appends before it waits until they are durable.
const atOnce = 256

// Log is what a Follower needs of the replica's local log: to read it, to append records of the stream, and to set
// offsets.
type Log interface {
	store.Reader
	store.Follower
	SetOffset(consumer string, through events.Sequence) error
}

// ErrBehind is the error when the stream no longer has the record after the end of the local log. Only another replica
// has it.
var ErrBehind = errors.New("the stream no longer has the records that this log lacks")

// ErrWentBack is the error when the stream has lost messages that were read, or has other messages in their places. The
// caller must call Begin again, which compares the stream with the log.
var ErrWentBack = errors.New("the stream has lost messages that were read")

// Follower reads the stream of a replicated log, and appends its records to the replica's local log.
type Follower struct {
	s       *stream.Stream
	log     Log
	own     events.ReaderVersion
	reader  *stream.Reader
	state   natslog.State
	end     events.Sequence // last record that was appended to the log, durable or not
	newest  store.Commit    // commit of the newest batch; nil if all are durable
	waiting int             // number of groups appended since all were durable
	last    []byte          // SHA-256 of the newest message that was read; nil at first
	place   atomic.Uint64   // sequence of the newest message that was read, for other goroutines
	ends    atomic.Uint64   // last record in the stream as read so far, for other goroutines
	term    atomic.Uint64   // number of the newest writer, for other goroutines
	voids   atomic.Uint64   // number of messages that did not count, for other goroutines
	key     events.Hash     // SHA-256 of the log's KEY, which each writer must have; zero for any

	released chan<- struct{} // gets a value when no process is the writer any more; set by TellReleased
}

// Begin returns a follower that reads the stream s from its oldest message on, and appends to log. own is the version
// of this program as a reader. The error is ErrBehind if the log lacks the records before that message, and
// store.ErrDiverged if the log has other records than the stream says.
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

// base checks that the local log has the record that the stream's first message names as its predecessor. The first
// message is a claim, with which the first writer began. The log may already have had records then. first is the
// message's sequence.
func (f *Follower) base(ctx context.Context, first uint64) error {
	data, found, err := f.s.At(ctx, first)
	if err != nil || !found {
		return err
	}
	m, err := natslog.Decode(data)
	if err != nil || m.Kind != natslog.Claim {
		return nil //nolint:nilerr // it does not count, or needs a newer program: the reader finds that out
	}
	return f.compare(m.Before)
}

// middle sets the state of the follower for a stream whose oldest messages were removed. It takes it from the first
// message from which a reader can begin, in the range [first, last]. If an operator removed messages, others may come
// before it, or there may be none; these are skipped.
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

// Expect sets the key that every writer of the log must have, as the SHA-256 of its KEY. If another process becomes the
// writer with another key, the follower ends with store.ErrOtherKey.
func (f *Follower) Expect(key events.Hash) { f.key = key }

// Place returns the sequence of the newest message that was read. Any goroutine may call it.
func (f *Follower) Place() uint64 { return f.place.Load() }

// Voids returns how many messages were read that did not count. Any goroutine may call it.
func (f *Follower) Voids() uint64 { return f.voids.Load() }

// Ends returns the last record of the stream as far as it was read, and the term (number) of its newest writer; 0 if
// there is none. Any goroutine may call it.
func (f *Follower) Ends() (last events.Sequence, term uint64) {
	return events.Sequence(f.ends.Load()), f.term.Load()
}

// TellReleased sets a channel that receives a value when the writer has given up, and the stream has no later message:
// no process is the writer. The channel must have capacity 1.
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

// State returns what is known of the stream after the messages that were read.
func (f *Follower) State() natslog.State { return f.state }

// Run reads the stream and appends its records to the log, until ctx ends; then it returns ctx's error. If the log
// cannot be continued, it returns the reason.
func (f *Follower) Run(ctx context.Context) error {
	defer f.reader.Stop()
	for {
		if err := f.next(ctx); err != nil {
			return errors.Join(err, f.settle(context.WithoutCancel(ctx)))
		}
	}
}

// Through returns when all messages up to place (a sequence in the stream) were read, and their records are durable in
// the log. It reads the missing ones.
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

// take handles the next message of the stream: it appends its records to the log, or notes the new writer, if the
// message counts.
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
	// These two verdicts say that messages are missing before this one. If the stream still has the messages that
	// were read, the message is forged, and is skipped; otherwise the stream went back.
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
		default: // the channel has an earlier value that nobody has received yet, and one value is enough
		}
	}
	return nil
}

// claim handles a claim, the message with which a process becomes the writer. If the local log lacks the record after
// which that writer continues, it returns an error; otherwise it sets the log's term (number of the writer).
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
		return nil // do not set an older term: the log already has records of a later writer
	}
	return f.log.SetTerm(s.Term)
}

// append appends the records of a group that the log lacks. If the log has all of them, it only checks the chain value
// (hash over all records so far) after them. soon starts the commit without delay.
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
	// If the log has a part of the group already, after a crash, append only the rest. The chain value at the group's
	// end also proves that the log's part is the same.
	if has := f.end + 1 - b.First; has > 0 {
		b.First, b.Records, b.BeginsFile = f.end+1, b.Records[has:], false
	}
	f.newest, f.end = f.log.AppendStored(b, soon), g.After.Sequence
	for consumer, through := range g.Offsets { // each offset becomes durable with this commit or a later one
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

// compare returns an error unless the log has the record h, with the same chain value (hash over all records so far). A
// record that was deleted as an old one counts as equal.
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
