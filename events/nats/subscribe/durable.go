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

// A durable subscription is a pull consumer with explicit acknowledgements. What was delivered to nobody that lives any
// more (a connection broke, a process was killed) the server delivers again, but not before its time, and what is newer
// before that. Two things keep the order: the server's patience is shortened for a moment, at the beginning, so that it
// delivers again at once; and if anything is skipped nevertheless, it is read from the stream itself, and acknowledged
// when it comes. Nothing is reported missing before the stream was asked: the server passes over an event that a
// subscriber acknowledged before it was killed, though it delivers those before it again.

const (
	// blink is for how long one that takes many messages at once may seem to ask for none.
	blink = 50 * time.Millisecond
	// hurry is what the server's patience is shortened to, and noticed how long it may take it to see that.
	hurry   = 50 * time.Millisecond
	noticed = 250 * time.Millisecond
)

// followDurable takes events by a durable subscription.
func (s *subscriber) followDurable(ctx context.Context, f *finder, deliver delivery) error {
	consumer, err := s.durable(ctx, f)
	if err != nil {
		return err
	}
	config := consumer.CachedInfo().Config
	patience := config.AckWait
	if patience < time.Second { // a killed subscriber left it at hurry
		patience = ackWait
	}
	hurried := consumer.CachedInfo().NumAckPending > 0 && s.setPatience(ctx, f.stream, &config, hurry)
	if hurried {
		dial.Wait(ctx, noticed)
	}
	info, err := consumer.Info(ctx) // by now the server knows what the one before us has acknowledged
	if err != nil {
		return fmt.Errorf("look at the durable subscription %s: %w", s.Durable, err)
	}
	if err := s.resume(ctx, f, info); err != nil {
		return err
	}
	s.acked = "" // it may be of a stream or a store that is gone
	messages, err := consumer.Messages(jetstream.PullMaxMessages(s.MaxPending), jetstream.PullExpiry(expiry), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	defer messages.Stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	q := newQueue(cancel, info.Delivered.Consumer)
	go q.fill(ctx, messages)        // ends with ctx
	go q.keepAlive(ctx, patience/3) // likewise
	s.tell(nil)
	settled := hurried && q.settle(ctx, info.NumAckPending, info.Delivered.Stream)
	if config.AckWait != patience && !s.setPatience(ctx, f.stream, &config, patience) {
		return fmt.Errorf("the server does not take the durable subscription %s as it should be", s.Durable)
	}
	return s.takeAll(ctx, f.stream, q, settled, deliver)
}

// takeAll delivers what the queue has, and what the server passed over. settled says that all that had been delivered
// has come again: the first message may come after some that the server passed over when it was started again, so else
// they are read.
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

// suspects reports whether something may be missing before a message.
func (s *subscriber) suspects(m jetstream.Msg) bool {
	head, err := nats.ParseHead(&nats.Message{Subject: m.Subject(), Header: m.Headers()})
	return err == nil && s.order.suspects(&head)
}

// setPatience changes how long the server waits for an acknowledgement, and reports whether it let us.
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

// durable gives the durable subscription, which is made if need be, and sets the place after which to go on.
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
	if info.NumWaiting == 0 && info.NumAckPending > 0 { // one that lives asks for more before it has acknowledged all
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

// resume sets the place after which to go on: the first time where acknowledgements end, and also when another one took
// what is beyond ours while our connection was broken. Nobody else goes on with our State, so with one the server
// counts as acknowledged there what nobody took: it was started again, or its store was put back.
func (s *subscriber) resume(ctx context.Context, f *finder, info *jetstream.ConsumerInfo) error {
	if s.begun {
		if err := s.locate(ctx, f); err != nil || s.State != nil || info.AckFloor.Stream <= s.place {
			return err
		}
	}
	place := max(info.AckFloor.Stream, max(info.Config.OptStartSeq, 1)-1)
	if err := f.reach(ctx, place); err != nil { // the one before us may have acknowledged what has come since we looked
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
		if next > place { // no acknowledgement goes beyond what is known here, so a later gap is a real gap
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

// same checks that a durable subscription is what this one would be.
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
