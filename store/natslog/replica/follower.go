package replica

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

// atOnce is how many groups are appended before one waits for the disk.
const atOnce = 256

// Log is what a replica is kept in.
type Log interface {
	store.Reader
	store.Follower
	SetOffset(consumer string, through events.Sequence) error
}

// ErrBehind: the stream begins behind the end of the log. The records between are in another replica alone.
var ErrBehind = errors.New("the stream no longer has the records that this log lacks")

// Follower follows a stream.
type Follower struct {
	s       *stream.Stream
	log     Log
	own     events.ReaderVersion
	reader  *stream.Reader
	state   natslog.State
	end     events.Sequence // of the log, durable or not
	newest  store.Commit    // nil when all is durable
	waiting int             // groups that were appended since the log was last known to be durable
	place   atomic.Uint64   // state.Place, for others
	key     events.Hash     // that a claim must have; zero for any
}

// Begin makes the follower of a log. It begins with the first message that the stream still has. The error is ErrBehind
// when that message goes on from a record that the log does not have, and store.ErrDiverged when it has another one.
func Begin(ctx context.Context, s *stream.Stream, log Log, own events.ReaderVersion) (*Follower, error) {
	f := &Follower{s: s, log: log, own: own, end: log.Head().Sequence}
	first, err := s.First(ctx)
	if err != nil {
		return nil, err
	}
	if first > 1 {
		if err := f.middle(ctx, first); err != nil {
			return nil, fmt.Errorf("follow the stream %s from place %d: %w", s.Name(), first, err)
		}
	}
	f.reader = s.Read(first)
	return f, nil
}

// middle takes the state of a stream that was cut from its first message.
func (f *Follower) middle(ctx context.Context, first uint64) error {
	data, found, err := f.s.At(ctx, first)
	if err != nil {
		return err
	}
	if !found {
		return errors.New("its first message is not there")
	}
	m, err := natslog.Decode(data)
	if err != nil {
		return err
	}
	f.state = natslog.From(first, m)
	return f.compare(m.Before)
}

// Expect makes a claim of another key than that one, the SHA-256 of the log's KEY, end the follower with
// store.ErrOtherKey.
func (f *Follower) Expect(key events.Hash) { f.key = key }

// Place is the newest place that was read. Any goroutine may ask.
func (f *Follower) Place() uint64 { return f.place.Load() }

// State is what the stream amounts to as far as it was read.
func (f *Follower) State() natslog.State { return f.state }

// Run follows until ctx ends, with its error, or until the log cannot be continued, with the reason.
func (f *Follower) Run(ctx context.Context) error {
	defer f.reader.Stop()
	for {
		if err := f.next(ctx); err != nil {
			return errors.Join(err, f.settle(context.WithoutCancel(ctx)))
		}
	}
}

// Through follows until that place is read and all records before it are durable. A place that was read before is no
// work.
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

// take accepts a message, and brings the log to where it leads.
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
	if err != nil {
		return err
	}
	f.state = state
	f.place.Store(state.Place)
	return nil
}

// claim checks that the log is the one that is claimed, up to where the claim begins, and goes on in its term.
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
		return nil // the log has later records, which name a later term
	}
	return f.log.SetTerm(s.Term)
}

// append appends what the log lacks of a group, and compares what it has.
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
	if has := f.end + 1 - b.First; has > 0 { // its commit was cut by a crash: the chain value at the end tells
		b.First, b.Records, b.BeginsFile = f.end+1, b.Records[has:], false
	}
	f.newest, f.end = f.log.AppendStored(b, soon), g.After.Sequence
	for consumer, through := range g.Offsets { // they ride with this commit, or with one behind it
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

// compare checks a head of the stream against the log.
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

// settle waits until all that was appended is durable.
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
