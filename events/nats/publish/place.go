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

// place says where to go on: with which record of the log, and after which position of the stream.
type place struct {
	from      events.Sequence // record to publish next
	floor     events.Sequence // all records from this one up to the one before from are published
	last      uint64          // newest position of the stream; over core NATS, bytes since the last flush
	stream    string          // name of the stream
	created   time.Time       // creation time of the stream: a recreated stream has other positions
	unflushed int             // messages since the last flush
	logID     string
	epochs    epochs
	maxSize   int  // limit of the stream for a message; 0 for none
	replicas  int  // number of servers that hold the stream
	atomic    bool // the stream accepts atomic batches
}

// maxBytes returns how large our part of a message may be, given the server's limit for a message.
func (p *place) maxBytes(payload int) int {
	const expected = 192 // size of the headers by which the server checks the order of messages
	if p.maxSize > 0 {
		payload = min(payload, p.maxSize)
	}
	return payload - expected
}

// DivergedError says that the stream and the log have different records with the same ID.
type DivergedError struct {
	Stream string
	Newest nats.ID     // newest record in the stream
	Chain  events.Hash // the log's hash after that record, as the message has it; zero for none
	Head   events.Sequence
}

// Error says what differs, names possible causes and the remedy.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("stream %s holds record %s, which this log (now at %d) does not have: the log lost records, or was restored from an older "+
		"copy without a new epoch; nothing is published, because its records would be taken for others", e.Stream, e.Newest, e.Head)
}

// Loss returns the divergence as a proof that the log lost records.
func (e *DivergedError) Loss() events.Loss {
	return events.Loss{Witness: events.WitnessStream, Epoch: e.Newest.Log.Epoch, Sequence: e.Newest.Sequence, Hash: e.Chain}
}

// locate finds out where to go on: in the stream by its newest message, and in the log by the record that it names.
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
		// If another publisher wrote the newest message (a new log replaced ours, an old log came back, or it is
		// another client), look for the newest message of our log
		if newest.head.ID.Log.LogID != at.logID {
			newest, err = p.newestOf(ctx, s, info.State.FirstSeq, newest)
		}
		if err == nil {
			err = p.continueAfter(ctx, &at, newest, info.Config.Name)
		}
	case at.last+1 == max(info.Config.FirstSeq, 1): // the stream never held a message
		at.from, at.floor = 1, 1
	default: // the stream held messages, but all were deleted
		at.from -= min(p.state.lostBehind(info), at.from-1)
		p.tellLost(&at, info.Config.Name)
		at.floor, err = p.oldest(ctx, at.from)
	}
	at.created, at.stream = info.Created, info.Config.Name
	if known := p.state.known(info) + 1; known > at.from {
		at.from = known // the stream is known to have all records before this one, at other positions
	}
	at.floor = min(at.floor, at.from) // from may be below floor, as a new epoch may begin before the end of the old one
	return at, err
}

// oldest returns the oldest record that the log still has, or most if that is lower. All records from it on were
// published, because only records that the log no longer has are skipped.
func (p *Publisher) oldest(ctx context.Context, most events.Sequence) (events.Sequence, error) {
	for r, err := range p.Log.Read(ctx, 0) {
		return min(r.Sequence, most), err
	}
	return most, nil
}

// continueAfter sets at.from to the record after newest, our log's newest message in the stream. newest is nil when all
// messages belong to other logs: then everything is published from the first record that the log has.
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

// tellLost writes a warning if records are published again that the stream had acknowledged.
func (p *Publisher) tellLost(at *place, stream string) {
	if acked := p.state.acked(); at.from <= acked {
		p.Logger.Warn("the stream lost records that it had acknowledged: publishing them again", "stream", stream,
			"from", uint64(at.from), "to", uint64(acked))
	}
}

// after sets at.from to the record after the one in the message newest. It returns a DivergedError if the log has
// another record under the message's ID.
func (p *Publisher) after(ctx context.Context, at *place, newest *tail, stream string) error {
	id := newest.head.ID
	at.from, at.floor = id.Sequence+1, newest.head.Floor
	// If the log went on in a new epoch, the old epoch's messages with sequences from next.first on are of a past that
	// the log does not have
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
	// If the operator accepted that the log had lost records, and so began a new epoch, go on with that epoch's first
	// record: another copy of the log may have published the lost records before
	case next.restored:
		at.from, at.floor = next.first, next.first
	default:
		err = &DivergedError{Stream: stream, Newest: id, Chain: newest.head.Chain, Head: p.Log.Head().Sequence}
	}
	return err
}

// holds reports whether the log has the record that the message contains. If the log no longer keeps it, the answer is
// yes.
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

// chained reports whether the log's chain value (hash) after the record is that in the message. If one of them is
// unknown, the answer is yes.
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
