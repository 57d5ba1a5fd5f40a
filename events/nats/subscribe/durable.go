package subscribe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/dial"
)

// This file implements a durable subscription, by a pull consumer with explicit acknowledgements. After a broken
// connection or a killed process, the server redelivers unacknowledged messages, but only after AckWait, and delivers
// newer messages before that. Two measures keep the order. At the beginning, AckWait is shortened for a moment, so that
// the server redelivers at once. If a message is still skipped, it is read from the stream itself, and acknowledged
// when it comes. An event is reported missing only after a query of the stream: the server skips an event that a killed
// subscriber had acknowledged, although it redelivers the events before it.

const (
	// blink is the longest time for which a subscriber that takes many messages may have no open request.
	blink = 50 * time.Millisecond
	// hurry is the shortened AckWait. noticed is the time that the server may need to apply it.
	hurry   = 50 * time.Millisecond
	noticed = 250 * time.Millisecond
)

// followDurable receives events through a durable subscription.
func (s *subscriber) followDurable(ctx context.Context, f *finder, deliver delivery) error {
	consumer, err := s.durable(ctx, f)
	if err != nil {
		return err
	}
	config := consumer.CachedInfo().Config
	patience := config.AckWait
	// If AckWait is short, the previous subscriber shortened it to get unacknowledged messages back soon, and was
	// killed before it restored the usual value
	if patience < time.Second {
		patience = ackWait
	}
	hurried := consumer.CachedInfo().NumAckPending > 0 && s.setPatience(ctx, f.stream, &config, hurry)
	if hurried {
		dial.Wait(ctx, noticed)
	}
	info, err := consumer.Info(ctx) // includes the acknowledgements of the previous subscriber
	if err != nil {
		return fmt.Errorf("look at the durable subscription %s: %w", s.Durable, err)
	}
	if err := s.resume(ctx, f, info); err != nil {
		return err
	}
	s.acked = "" // that reply subject may belong to a stream or a store that is gone
	messages, err := consumer.Messages(jetstream.PullMaxMessages(s.MaxPending), jetstream.PullExpiry(expiry), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	defer messages.Stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	q := newQueue(cancel, info.Delivered.Consumer)
	go q.fill(ctx, messages)        // ends with ctx
	go q.keepAlive(ctx, patience/3) // ends with ctx
	s.tell(nil)
	settled := hurried && q.settle(ctx, info.NumAckPending, info.Delivered.Stream)
	if config.AckWait != patience && !s.setPatience(ctx, f.stream, &config, patience) {
		return fmt.Errorf("the server does not take the durable subscription %s as it should be", s.Durable)
	}
	return s.takeAll(ctx, f.stream, q, settled, deliver)
}

// takeAll delivers the messages in the queue, and messages that the server skipped. settled says that all
// unacknowledged messages were redelivered. Otherwise, after a restart of the server, messages may be skipped before
// the first one, so takeAll reads those from the stream.
func (s *subscriber) takeAll(
	ctx context.Context, stream jetstream.Stream, q *queue, settled bool, deliver delivery,
) error {
	incomplete := !settled
	for {
		var m held
		err := s.awaiting(ctx, func(ctx context.Context) (err error) {
			m, err = q.next(ctx)
			return err
		})
		if err != nil {
			return err
		}
		incomplete = incomplete || m.skipped
		if m.number > s.place+1 && (incomplete || s.suspects(m.message)) {
			if err := s.read(ctx, stream, m.number, deliver); err != nil {
				return err
			}
		}
		incomplete = incomplete && m.number <= s.place
		if err := deliver(m.message, m.place); err != nil {
			return err
		}
		if err := m.message.Ack(); err != nil {
			return fmt.Errorf("acknowledge message %d: %w", m.number, err)
		}
		s.acked = m.message.Reply()
		q.done()
	}
}

// suspects reports whether an event may be missing before m, by the sequences in the headers.
func (s *subscriber) suspects(m jetstream.Msg) bool {
	head, err := nats.ParseHead(&nats.Message{Subject: m.Subject(), Header: m.Headers()})
	return err == nil && s.order.suspects(&head)
}

// setPatience changes the consumer's AckWait to d, and reports whether the server accepted it.
func (s *subscriber) setPatience(ctx context.Context, stream jetstream.Stream, config *jetstream.ConsumerConfig, d time.Duration) bool {
	bound, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	changed := *config
	changed.AckWait = d
	if _, err := stream.UpdateConsumer(bound, changed); err != nil {
		return false
	}
	config.AckWait = d
	return true
}

// durable returns the durable consumer. It creates the consumer if necessary, and then also sets the position after
// which it begins. It returns an error while another subscriber uses the consumer.
func (s *subscriber) durable(ctx context.Context, f *finder) (jetstream.Consumer, error) {
	bound, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	consumer, err := f.stream.Consumer(bound, s.Durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		if err := s.locate(ctx, f); err != nil {
			return nil, err
		}
		consumer, err = f.stream.CreateConsumer(bound, jetstream.ConsumerConfig{
			Durable: s.Durable, Description: "Subscription to events of Jobledger, cluster " + s.Cluster,
			FilterSubjects: s.subjects(), DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: s.place + 1,
			AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: s.MaxPending, Metadata: beginNote(s.floor.note()),
		})
		if err != nil {
			return nil, refusal("make the durable subscription "+s.Durable, err)
		}
		s.made()
		return consumer, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the durable subscription %s: %w", s.Durable, err)
	}
	info := consumer.CachedInfo()
	if err := s.same(&info.Config); err != nil {
		return nil, err
	}
	// If no request waits at the server although messages are unacknowledged, look again after a moment: another
	// subscriber that is alive requests more messages before it has acknowledged all
	if info.NumWaiting == 0 && info.NumAckPending > 0 {
		dial.Wait(ctx, blink)
		if info, err = consumer.Info(bound); err != nil {
			return nil, fmt.Errorf("look at the durable subscription %s: %w", s.Durable, err)
		}
	}
	if info.NumWaiting > 0 {
		return nil, fmt.Errorf("another subscriber uses the durable subscription %s: waiting until it ends", s.Durable)
	}
	return consumer, nil
}

// resume sets the position to continue after. At the beginning of a Run, that is the last position before which all is
// acknowledged. After a broken connection, the position stays, with one exception: another subscriber has acknowledged
// later events meanwhile. With a State, no other subscriber uses the durable name. An acknowledgement beyond our
// position then means that the server restarted or its store was restored, and is ignored.
func (s *subscriber) resume(ctx context.Context, f *finder, info *jetstream.ConsumerInfo) error {
	if s.begun {
		if err := s.locate(ctx, f); err != nil || s.State != nil || info.AckFloor.Stream <= s.place {
			return err
		}
	}
	place := max(info.AckFloor.Stream, max(info.Config.OptStartSeq, 1)-1)
	// The previous subscriber may have acknowledged messages newer than f.end
	if err := f.reach(ctx, place); err != nil {
		return err
	}
	first, err := f.expected(ctx, place+1)
	if err != nil {
		return err
	}
	if s.continues {
		next, err := s.seek(ctx, f)
		if err != nil {
			return err
		}
		if next > place { // our own position is later than all acknowledgements: what is missing after it is missing
			first = following(s.newest.ID)
			if err := s.lacks(ctx, f, first); err != nil {
				return err
			}
		}
	}
	s.order.Expect(first)
	s.floor.raise(first)
	s.begun, s.created, s.place = true, f.stream.CachedInfo().Created, place
	return s.recall(ctx, f, info)
}

// same returns ErrTaken if the server's consumer of that name has another configuration than this subscription.
func (s *subscriber) same(c *jetstream.ConsumerConfig) error {
	subjects := c.FilterSubjects
	if c.FilterSubject != "" {
		subjects = []string{c.FilterSubject}
	}
	mine := s.subjects()
	slices.Sort(mine)
	if theirs := slices.Sorted(slices.Values(subjects)); !slices.Equal(mine, theirs) {
		return &finalError{fmt.Errorf("%w: %s is to %v, this one to %v; take another name, or delete it first", ErrTaken, s.Durable, theirs, mine)}
	}
	if c.AckPolicy != jetstream.AckExplicitPolicy || c.DeliverSubject != "" {
		return &finalError{fmt.Errorf("%w: %s is no pull consumer with explicit acknowledgements", ErrTaken, s.Durable)}
	}
	return nil
}
