package subscribe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/dial"
)

const (
	// forgotten is the time without requests after which the server drops a consumer that is not durable. If the
	// function that handles events is slower, nothing is lost, because a new consumer is created.
	forgotten = 5 * time.Minute
	expiry    = 30 * time.Second // lifetime of a request for messages
	heartbeat = 5 * time.Second  // interval of the server's heartbeats for a request
)

// read delivers the messages after s.place, which it reads with a temporary consumer. It ends before the position
// before; if before is 0, it ends with ctx.
func (s *subscriber) read(ctx context.Context, stream jetstream.Stream, before uint64, deliver delivery) error {
	bound, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	consumer, err := stream.CreateConsumer(bound, jetstream.ConsumerConfig{
		FilterSubjects: s.subjects(), DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: s.place + 1,
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: forgotten,
	})
	if err != nil {
		return refusal("subscribe", err)
	}
	defer func() {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if s.conn.IsConnected() {
			_ = stream.DeleteConsumer(bound, consumer.CachedInfo().Name) // the server drops it sooner or later
		}
	}()
	if before > 0 && consumer.CachedInfo().NumPending == 0 {
		return nil
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(s.MaxPending), jetstream.PullExpiry(expiry), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	defer messages.Stop()
	s.tell(nil)
	for delivered := uint64(0); ; delivered++ {
		m, at, err := s.next(ctx, messages)
		if err != nil {
			return fmt.Errorf("take the next message: %w", err)
		}
		if at.Sequence.Consumer != delivered+1 {
			return errAgain // some messages were lost on the way
		}
		if before > 0 && at.Sequence.Stream >= before {
			return nil
		}
		if err := deliver(m, place{at.Sequence.Stream, at.NumPending}); err != nil {
			return err
		}
		if before > 0 && at.NumPending == 0 {
			return nil
		}
	}
}

// next waits for the next message of a temporary consumer.
func (s *subscriber) next(
	ctx context.Context, messages jetstream.MessagesContext,
) (m jetstream.Msg, at *jetstream.MsgMetadata, err error) {
	err = s.awaiting(ctx, func(ctx context.Context) (err error) {
		m, err = messages.Next(jetstream.NextContext(ctx))
		return err
	})
	if err == nil {
		err = ctx.Err() // Next returns buffered messages even after ctx has ended
	}
	if err != nil {
		return nil, nil, err
	}
	at, err = m.Metadata()
	return m, at, err
}

// refusal makes an error final (Run returns it) if the server would give it again each time. what says what was tried.
func refusal(what string, err error) error {
	const badRequest = 400
	err = fmt.Errorf("%s: %w", what, err)
	if api := (*jetstream.APIError)(nil); errors.As(err, &api) && api.Code == badRequest {
		return &finalError{err}
	}
	return err
}

// deliver passes one message to the function, again and again until the function accepts it. It drops a message that
// was handled before.
func (s *subscriber) deliver(ctx context.Context, m jetstream.Msg, at place) error {
	e, err := nats.Decode(&nats.Message{Subject: m.Subject(), Header: m.Headers(), Data: m.Data()})
	if err != nil {
		return s.unreadable(ctx, m, at.number, err)
	}
	if s.floor.sequence > 0 { // the stream was empty when Run began, so the log's ID was unknown
		first := nats.ID{Log: e.ID.Log, Sequence: s.floor.sequence}
		s.floor.raise(first)
		s.order.Expect(first)
	}
	s.checkFork(&e)
	if s.floor.behind(e.ID) || e.Time < s.since {
		s.place = max(s.place, at.number)
		return nil
	}
	s.passOver(&e.Head, at.number)
	if err := s.prove(ctx); err != nil {
		return err
	}
	found := s.order.Check(&e.Head)
	if found.Duplicate {
		s.place = max(s.place, at.number)
		return nil
	}
	gap, rest := s.lost.with(s.unseen(&e.Head)).with(found.Gap).next(e.ID.Log)
	event := &Event{Event: e, Place: at.number, Pending: at.pending, Gap: gap, Before: found.Before}
	err = s.insist(ctx, e.ID, func(try int) error {
		event.Try = try
		return s.take(ctx, event)
	})
	if err != nil {
		return err
	}
	s.place, s.since, s.lost = max(s.place, at.number), 0, rest
	s.keep(Taken{ID: e.ID, Chain: e.Chain})
	s.taken++
	return nil
}

// unseen returns the records that are missing before an event because they were never published. The header Floor shows
// that where the sequences do not.
func (s *subscriber) unseen(h *nats.Head) Gap {
	if next := s.floor.first(); !s.order.dense && next.Log == h.ID.Log && h.Floor > next.Sequence && next.Sequence < h.ID.Sequence {
		return Gap{Log: h.ID.Log, From: next.Sequence, To: min(h.Floor, h.ID.Sequence) - 1, Floor: h.Floor}
	}
	return Gap{}
}

// unreadable calls Config.Unreadable for a message that cannot be decoded; without it, Run ends.
func (s *subscriber) unreadable(ctx context.Context, m jetstream.Msg, place uint64, err error) error {
	id, _ := nats.RecordID(m.Headers())
	problem := &UnreadableError{Place: place, Subject: m.Subject(), ID: id, Err: err}
	if s.Unreadable == nil {
		return &finalError{problem}
	}
	if err := s.Unreadable(ctx, m, problem); err != nil {
		return &finalError{err}
	}
	s.place = max(s.place, place)
	return nil
}

// insist calls do until it succeeds, or has failed Config.Tries times.
func (s *subscriber) insist(ctx context.Context, id nats.ID, do func(try int) error) error {
	for try := 1; ; try++ {
		err := do(try)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case try == s.Tries:
			return &finalError{&RefusedError{ID: id, Tries: try, Err: err}}
		}
		dial.Wait(ctx, dial.Pause(try-1, s.FirstPause, s.MaxPause))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
