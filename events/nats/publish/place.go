package publish

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/store"
)

// place is where to go on: in the log, and in the stream.
type place struct {
	from      events.Sequence // the record to publish next
	floor     events.Sequence // from this one on, all before from are published
	last      uint64          // where the stream ends; over core NATS, bytes since the last flush
	stream    string          // its name
	created   time.Time       // when the stream was made: another one under its name has other places
	unflushed int             // messages since then
	logID     string
	epochs    epochs
	maxSize   int  // of a message, by the stream's limit; 0 for none
	replicas  int  // servers that hold the stream
	atomic    bool // it takes atomic batches
}

// maxBytes is how large our part of a message may be, on a server with that limit.
func (p *place) maxBytes(payload int) int {
	const expected = 192 // bytes that the headers take which say what a message follows
	if p.maxSize > 0 {
		payload = min(payload, p.maxSize)
	}
	return payload - expected
}

// DivergedError says that the stream and the log tell different stories under the same IDs.
type DivergedError struct {
	Stream string
	Newest nats.ID     // of the stream
	Chain  events.Hash // the chain value behind that record, as its message says it; zero when it does not
	Head   events.Sequence
}

// Error says what may have happened and what helps.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("stream %s holds record %s, which this log (now at %d) does not have: the log lost records, or was restored from an older "+
		"copy without a new epoch; nothing is published, because its records would be taken for others", e.Stream, e.Newest, e.Head)
}

// Loss is the divergence as the proof that the log lost records.
func (e *DivergedError) Loss() events.Loss {
	return events.Loss{Witness: events.WitnessStream, Epoch: e.Newest.Log.Epoch, Sequence: e.Newest.Sequence, Hash: e.Chain}
}

// locate finds out where to go on.
func (p *Publisher) locate(ctx context.Context) (place, error) {
	at := place{logID: p.Log.Identity().LogID, from: p.state.acked() + 1}
	at.floor = at.from
	var err error
	if at.epochs, err = loadEpochs(ctx, p.Log); err != nil || p.Core {
		return at, err
	}
	s, err := p.stream(ctx)
	if err != nil {
		return at, err
	}
	if at.maxSize = int(s.CachedInfo().Config.MaxMsgSize); at.maxSize < 0 {
		at.maxSize = 0
	}
	info, err := s.Info(ctx)
	if err != nil {
		return at, explain("look at stream "+s.CachedInfo().Config.Name, err)
	}
	at.replicas, at.atomic = info.Config.Replicas, info.Config.AllowAtomicPublish
	at.last = info.State.LastSeq
	newest, err := p.newest(ctx, info.Config.Name)
	if err != nil {
		return at, err
	}
	switch {
	case newest != nil:
		at.last = max(at.last, newest.place)
		if newest.head.ID.Log.LogID != at.logID { // a new log in the place of an old one, one that comes back, or another client
			newest, err = p.newestOf(ctx, s, info.State.FirstSeq, newest)
		}
		if err == nil {
			err = p.continueAfter(ctx, &at, newest, info.Config.Name)
		}
	case at.last+1 == max(info.Config.FirstSeq, 1): // it never held anything
		at.from, at.floor = 1, 1
	default: // all that it held was deleted
		at.from -= min(p.state.lostBehind(info), at.from-1)
		p.tellLost(&at, info.Config.Name)
		at.floor, err = p.oldest(ctx, at.from)
	}
	at.created, at.stream = info.Created, info.Config.Name
	if known := p.state.known(info) + 1; known > at.from {
		at.from = known // the server said of each before it that it had it
	}
	at.floor = min(at.floor, at.from) // a life that was restored may begin before what the one before had left out
	return at, err
}

// oldest is the oldest record that the log keeps, but no later than that one. From it on all were published: what is
// passed over is what the log keeps no longer.
func (p *Publisher) oldest(ctx context.Context, most events.Sequence) (events.Sequence, error) {
	for r, err := range p.Log.Read(ctx, 0) {
		return min(r.Sequence, most), err
	}
	return most, nil
}

// continueAfter sets where to go on after our newest message in the stream, which is nil when all that there are belong
// to another log.
func (p *Publisher) continueAfter(ctx context.Context, at *place, newest *tail, stream string) error {
	at.from, at.floor = 1, 1
	if newest != nil {
		if err := p.after(ctx, at, newest, stream); err != nil {
			return err
		}
	}
	p.tellLost(at, stream)
	return nil
}

// tellLost tells of what is to be published although the stream had it.
func (p *Publisher) tellLost(at *place, stream string) {
	if acked := p.state.acked(); at.from <= acked {
		p.Logger.Warn("the stream lost records that it had acknowledged: publishing them again", "stream", stream,
			"from", uint64(at.from), "to", uint64(acked))
	}
}

// after sets where to go on after a message, unless the log has another record in its place.
func (p *Publisher) after(ctx context.Context, at *place, newest *tail, stream string) error {
	id := newest.head.ID
	at.from, at.floor = id.Sequence+1, newest.head.Floor
	// The log was restored, and knows it: what the stream holds of the epoch before, beyond its end, is of a life that
	// ended.
	next := at.epochs.after(id.Log.Epoch)
	if next.number != 0 {
		at.from = min(at.from, next.first)
	}
	if at.from != id.Sequence+1 {
		return nil
	}
	same, err := p.holds(ctx, &newest.head, at.epochs)
	switch {
	case err != nil || same:
	case next.restored: // another copy published before the loss was accepted: the rest of that epoch could be its records, too
		at.from, at.floor = next.first, next.first
	default:
		err = &DivergedError{Stream: stream, Newest: id, Chain: newest.head.Chain, Head: p.Log.Head().Sequence}
	}
	return err
}

// holds reports whether the log has the record of that message, as far as it keeps it.
func (p *Publisher) holds(ctx context.Context, h *nats.Head, lives epochs) (bool, error) {
	if h.ID.Sequence > p.Log.Head().Sequence || lives.of(h.ID.Sequence) != h.ID.Log.Epoch {
		return false, nil
	}
	for r, err := range p.Log.Read(ctx, h.ID.Sequence) {
		if errors.Is(err, store.ErrPruned) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if r.Time != h.Time || r.Stream != h.Stream || r.Previous != h.Previous || r.Kind.String() != h.Subject.Event {
			return false, nil
		}
		return p.chained(h)
	}
	return false, nil
}

// chained reports whether the log's chain value behind the record of a message is the one that the message says, as far
// as both are known.
func (p *Publisher) chained(h *nats.Head) (bool, error) {
	if h.Chain == (events.Hash{}) {
		return true, nil
	}
	chain, err := p.Log.Chain(h.ID.Sequence)
	if errors.Is(err, store.ErrPruned) {
		return true, nil
	}
	return chain == h.Chain, err
}
