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

// place is the position to go on with, in the log and in the stream.
type place struct {
	from      events.Sequence // record to publish next
	floor     events.Sequence // all records from this one to before from are published
	last      uint64          // end of the stream; over core NATS, bytes since the last flush
	stream    string          // name of the stream
	created   time.Time       // creation time of the stream: a recreated stream has other positions
	unflushed int             // messages since the last flush
	logID     string
	epochs    epochs
	maxSize   int  // limit of the stream for a message; 0 for none
	replicas  int  // number of servers that hold the stream
	atomic    bool // the stream accepts atomic batches
}

// maxBytes returns the limit for our part of a message, given the server's limit.
func (p *place) maxBytes(payload int) int {
	const expected = 192 // size of the headers by which the server checks the order of messages
	if p.maxSize > 0 {
		payload = min(payload, p.maxSize)
	}
	return payload - expected
}

// DivergedError: the stream and the log have different records under the same ID.
type DivergedError struct {
	Stream string
	Newest nats.ID     // newest record in the stream
	Chain  events.Hash // chain value after that record, from its message; zero when the message has none
	Head   events.Sequence
}

// Error names possible causes and the remedy.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("stream %s holds record %s, which this log (now at %d) does not have: the log lost records, or was restored from an older "+
		"copy without a new epoch; nothing is published, because its records would be taken for others", e.Stream, e.Newest, e.Head)
}

// Loss returns the divergence as a proof that the log lost records.
func (e *DivergedError) Loss() events.Loss {
	return events.Loss{Witness: events.WitnessStream, Epoch: e.Newest.Log.Epoch, Sequence: e.Newest.Sequence, Hash: e.Chain}
}

// locate returns the position to go on with.
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
		// The newest message is not ours: a new log replaced an old one, an old log came back, or another client wrote
		if newest.head.ID.Log.LogID != at.logID {
			newest, err = p.newestOf(ctx, s, info.State.FirstSeq, newest)
		}
		if err == nil {
			err = p.continueAfter(ctx, &at, newest, info.Config.Name)
		}
	case at.last+1 == max(info.Config.FirstSeq, 1): // the stream never held a message
		at.from, at.floor = 1, 1
	default: // all its messages were deleted
		at.from -= min(p.state.lostBehind(info), at.from-1)
		p.tellLost(&at, info.Config.Name)
		at.floor, err = p.oldest(ctx, at.from)
	}
	at.created, at.stream = info.Created, info.Config.Name
	if known := p.state.known(info) + 1; known > at.from {
		at.from = known // the stream has all records before known already, at other positions
	}
	at.floor = min(at.floor, at.from) // a restored epoch may begin before the end of the one it replaces
	return at, err
}

// oldest returns the oldest record that the log keeps, or most if that is lower. All records from it on were published,
// because only pruned records are skipped.
func (p *Publisher) oldest(ctx context.Context, most events.Sequence) (events.Sequence, error) {
	for r, err := range p.Log.Read(ctx, 0) {
		return min(r.Sequence, most), err
	}
	return most, nil
}

// continueAfter sets the position of at after newest, our newest message in the stream. newest is nil when all messages
// belong to another log: then everything is published from the first record that the log has.
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

// tellLost logs that records are published again which the stream had acknowledged.
func (p *Publisher) tellLost(at *place, stream string) {
	if acked := p.state.acked(); at.from <= acked {
		p.Logger.Warn("the stream lost records that it had acknowledged: publishing them again", "stream", stream,
			"from", uint64(at.from), "to", uint64(acked))
	}
}

// after sets the position of at to that after a message. It returns a DivergedError if the log has another record under
// the message's ID.
func (p *Publisher) after(ctx context.Context, at *place, newest *tail, stream string) error {
	id := newest.head.ID
	at.from, at.floor = id.Sequence+1, newest.head.Floor
	// If the log was restored in a new epoch, messages of the old epoch with sequences from next.first on belong to a
	// past that the log no longer has
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
	// The operator accepted a loss of records, and the old epoch ended. Before that, another copy of the log may have
	// published these records
	case next.restored:
		at.from, at.floor = next.first, next.first
	default:
		err = &DivergedError{Stream: stream, Newest: id, Chain: newest.head.Chain, Head: p.Log.Head().Sequence}
	}
	return err
}

// holds reports whether the log has the record of the message, as far as it still keeps it.
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

// chained reports whether the log and the message have the same chain value after the message's record, as far as both
// are known.
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
