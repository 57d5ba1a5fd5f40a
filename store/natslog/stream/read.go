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
	aheadBytes = 8 << 20                // maximum number of bytes that the server sends in advance
	heartbeat  = time.Second            // how often an idle server sends a heartbeat
	askAgain   = 10 * heartbeat         // time after which a request for messages is renewed
	firstPause = 100 * time.Millisecond // pause before a reader begins again after an error; doubles each time
	mostPause  = 2 * time.Second        // upper bound of the pause
)

// Message is one message of the stream.
type Message struct {
	Place uint64
	Data  []byte // the caller owns it
	Last  bool   // the server had no later message when it sent this one
}

// Reader reads the messages of the stream in order. It is not safe for concurrent use.
type Reader struct {
	s    *Stream
	next uint64
	it   jetstream.MessagesContext // nil if the request for messages must be made again
}

// Read returns a reader of the messages from place (a sequence in the stream) on. The caller must call Stop.
func (s *Stream) Read(place uint64) *Reader { return &Reader{s: s, next: place} }

// ErrCut is the error when the wanted message was removed from the stream, because it was old.
var ErrCut = errors.New("it no longer has that message")

// Next waits for the next message. If the reader loses its server, it continues at the same place. It returns ctx's
// error when ctx ends, and ErrCut if the stream no longer has the place.
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
		// By default the client would retry for ever while there is no stream, even after ctx has ended. With one
		// attempt the request fails, and Next makes a new one.
		MaxResetAttempts: 1,
	})
	if err != nil {
		return err
	}
	r.it, err = c.Messages(
		jetstream.PullMaxBytes(aheadBytes), jetstream.PullHeartbeat(heartbeat), jetstream.PullExpiry(askAgain))
	return err
}

// Stop ends the reader's requests.
func (r *Reader) Stop() {
	if r.it != nil {
		r.it.Stop()
		r.it = nil
	}
}
