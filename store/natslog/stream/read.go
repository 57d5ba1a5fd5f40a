package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats/dial"
)

const (
	aheadBytes = 8 << 20                // a reader is sent at most so much ahead
	heartbeat  = time.Second            // the server says so often that it has nothing
	askAgain   = 10 * heartbeat         // a request for messages ends after so long, and another is made
	firstPause = 100 * time.Millisecond // before a reader begins again; then twice as long each time
	mostPause  = 2 * time.Second        // at most
)

// Message is one message of the stream.
type Message struct {
	Place uint64
	Data  []byte // belongs to who is given it
	Last  bool   // the server had no further one when it sent this
}

// Reader reads the stream in order. It is not safe for concurrent use.
type Reader struct {
	s    *Stream
	next uint64
	it   jetstream.MessagesContext // nil when it has to begin again
}

// Read gives a reader that begins with that place. Stop ends it.
func (s *Stream) Read(place uint64) *Reader { return &Reader{s: s, next: place} }

// ErrCut: the stream was cut behind a place that is wanted of it.
var ErrCut = errors.New("it no longer has that message")

// Next waits for the next message. A reader that loses its server begins again where it was. The error is ctx's, or of
// a stream that has no such place any more.
func (r *Reader) Next(ctx context.Context) (Message, error) {
	for failures := 0; ; {
		m, err := r.one(ctx)
		switch {
		case ctx.Err() != nil:
			return Message{}, ctx.Err()
		case err == nil && m.Place == r.next:
			r.next++
			return m, nil
		case err == nil && m.Place > r.next:
			return Message{}, fmt.Errorf("read place %d of the stream %s: %w, and goes on with %d", r.next, r.s.name, ErrCut, m.Place)
		case err != nil:
			r.Stop()
			dial.Wait(ctx, dial.Pause(failures, firstPause, mostPause))
			failures++
		}
	}
}

func (r *Reader) one(ctx context.Context) (Message, error) {
	if r.it == nil {
		if err := r.begin(ctx); err != nil {
			return Message{}, err
		}
	}
	m, err := r.it.Next(jetstream.NextContext(ctx))
	if err != nil {
		return Message{}, err
	}
	meta, err := m.Metadata()
	if err != nil {
		return Message{}, err
	}
	return Message{Place: meta.Sequence.Stream, Data: m.Data(), Last: meta.NumPending == 0}, nil
}

func (r *Reader) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	c, err := r.s.js.OrderedConsumer(ctx, r.s.name, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: r.next,
	})
	if err != nil {
		return err
	}
	r.it, err = c.Messages(
		jetstream.PullMaxBytes(aheadBytes), jetstream.PullHeartbeat(heartbeat), jetstream.PullExpiry(askAgain))
	return err
}

// Stop ends the reader.
func (r *Reader) Stop() {
	if r.it != nil {
		r.it.Stop()
		r.it = nil
	}
}
