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
	aheadBytes = 8 << 20                // most bytes that the server sends a reader ahead
	heartbeat  = time.Second            // how often an idle server sends a heartbeat
	askAgain   = 10 * heartbeat         // lifetime of a request for messages, after which another is made
	firstPause = 100 * time.Millisecond // before a reader begins again; doubles each time
	mostPause  = 2 * time.Second        // upper bound of the pause
)

// Message is one message of the stream.
type Message struct {
	Place uint64
	Data  []byte // the caller owns it
	Last  bool   // the server had no later message when it sent this one
}

// Reader reads the stream in order. It is not safe for concurrent use.
type Reader struct {
	s    *Stream
	next uint64
	it   jetstream.MessagesContext // nil if it has to begin again
}

// Read returns a reader that begins with place. The caller must Stop it.
func (s *Stream) Read(place uint64) *Reader { return &Reader{s: s, next: place} }

// ErrCut: the stream was cut behind the wanted place.
var ErrCut = errors.New("it no longer has that message")

// Next waits for the next message. A reader that loses its server continues where it was. It returns ctx's error when
// ctx ends, and ErrCut if the stream no longer has the place.
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
		// By default it tries for ever while there is no stream, and heeds no context. Next begins again instead
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
