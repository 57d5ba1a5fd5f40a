package subscribe_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// TestADurableSubscriptionGoesOnWhereAcknowledgementsEnded breaks connections while messages are delivered and not yet
// taken, as when a process is killed. The next subscriber does not wait until the server gives these messages up, which
// takes an hour here, and gets all in order.
func TestADurableSubscriptionGoesOnWhereAcknowledgementsEnded(t *testing.T) {
	s := natstest.NewServer(t).Start()
	l := natstest.NewLedger(t, 2000).Grow(0)
	natstest.Publish(t, s, l.Log).CaughtUp(t)
	head := int(l.Log.Head().Sequence)
	st, err := s.JetStream().Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	_, err = st.CreateConsumer(t.Context(), jetstream.ConsumerConfig{ // as Run makes it, with more patience
		Durable: "d", FilterSubjects: []string{"jobledger.v1.test.>"}, DeliverPolicy: jetstream.DeliverAllPolicy,
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Hour, MaxAckPending: 100,
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []subscribe.Event
	for round := range 6 {
		js := s.JetStream()
		full := make(chan struct{})
		n := 0
		sub := start(t, js, subscribe.Config{Durable: "d", Start: subscribe.All(), MaxPending: 100}, func(ctx context.Context, e *subscribe.Event) error {
			if n++; n > 300 && round < 5 {
				close(full)
				<-ctx.Done() // it hangs with this one in its hands
				return ctx.Err()
			}
			return nil
		})
		if round < 5 {
			<-full
			js.Conn().Close()
		} else {
			natstest.Eventually(t, "it has all", func() error {
				if got := sub.events(); len(got) == 0 || int(got[len(got)-1].ID.Sequence) < head {
					return fmt.Errorf("it has %d", len(got))
				}
				return nil
			})
		}
		if err := sub.end(); err != nil {
			t.Fatal(err)
		}
		got := sub.events()
		if len(all) > 0 {
			if newest := all[len(all)-1].ID.Sequence; got[0].ID.Sequence > newest+1 || newest > got[0].ID.Sequence+300 {
				t.Fatalf("round %d begins with record %d after %d", round, got[0].ID.Sequence, newest)
			}
		}
		whole(t, got, got[0].ID.Sequence)
		t.Logf("round %d: records %d to %d, trouble %q", round, got[0].ID.Sequence, got[len(got)-1].ID.Sequence, sub.trouble)
		all = append(all, got...)
	}
	if all[0].ID.Sequence != 1 || int(all[len(all)-1].ID.Sequence) != head {
		t.Errorf("records %d to %d were taken, want 1 to %d", all[0].ID.Sequence, all[len(all)-1].ID.Sequence, head)
	}
}

// TestAStoppedSubscriptionGetsNothingTwice: all events that were taken are acknowledged when Run returns.
func TestAStoppedSubscriptionGetsNothingTwice(t *testing.T) {
	s := natstest.NewServer(t).Start()
	l := natstest.NewLedger(t, 1000).Grow(0)
	natstest.Publish(t, s, l.Log).CaughtUp(t)
	js := s.JetStream()
	next := 1
	for next < 900 {
		stopAt := next + 99
		var sub *subscription
		ready := make(chan struct{})
		sub = start(t, js, subscribe.Config{Durable: "d", Start: subscribe.All()}, func(_ context.Context, e *subscribe.Event) error {
			<-ready
			if int(e.ID.Sequence) == stopAt {
				sub.stop()
			}
			return nil
		})
		close(ready)
		if err := <-sub.ended; err != nil {
			t.Fatal(err)
		}
		sub.ended <- nil
		got := sub.events()
		if len(got) != 100 {
			t.Fatalf("events %d to %d were taken, want %d to %d", got[0].ID.Sequence, got[len(got)-1].ID.Sequence, next, next+99)
		}
		for i, e := range got {
			if int(e.ID.Sequence) != next+i {
				t.Fatalf("record %d is taken in the place of %d", e.ID.Sequence, next+i)
			}
		}
		next += 100
	}
}

// TestASlowFunctionLosesNothing: the function takes longer than the server waits for an acknowledgement, and other
// messages come meanwhile.
func TestASlowFunctionLosesNothing(t *testing.T) {
	effort.Whole(t)
	s := natstest.NewServer(t).Start()
	l := natstest.NewLedger(t, 600).Grow(300)
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	js := s.JetStream()
	st, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	const patience = 3 * time.Second                                  // of the server: a few times what a busy machine stands still
	_, err = st.CreateConsumer(t.Context(), jetstream.ConsumerConfig{ // as Run makes it, with less patience
		Durable: "d", FilterSubjects: []string{"jobledger.v1.test.>"}, DeliverPolicy: jetstream.DeliverAllPolicy,
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: patience, MaxAckPending: 50,
	})
	if err != nil {
		t.Fatal(err)
	}
	goOn := make(chan struct{})
	sub := start(t, js, subscribe.Config{Durable: "d"}, func(_ context.Context, e *subscribe.Event) error {
		if e.ID.Sequence == 20 {
			<-goOn
		}
		return nil
	})
	sub.await(19)
	since := time.Now()
	natstest.Eventually(t, "three times the server's patience is over", func() error {
		if d := time.Since(since); d < 3*patience {
			return fmt.Errorf("%s", d)
		}
		return nil
	})
	c, err := js.Consumer(t.Context(), stream, "d")
	if err != nil {
		t.Fatal(err)
	}
	if n := c.CachedInfo().NumRedelivered; n > 0 {
		t.Errorf("%d messages were delivered again though they were worked on", n)
	}
	l.Grow(0)
	p.CaughtUp(t)
	close(goOn)
	whole(t, sub.await(int(l.Log.Head().Sequence)), 1)
}

// TestOneAtATimeUsesADurableSubscription: a second subscriber waits, and then takes over.
func TestOneAtATimeUsesADurableSubscription(t *testing.T) {
	s := natstest.NewServer(t).Start()
	l := natstest.NewLedger(t, 800).Grow(400)
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	head := int(l.Log.Head().Sequence)
	config := subscribe.Config{Durable: "d", Start: subscribe.All()}
	first := start(t, s.JetStream(), config, nil)
	first.await(head)
	second := start(t, s.JetStream(), config, nil)
	second.says(t, "waiting until it ends")
	if err := first.end(); err != nil {
		t.Fatal(err)
	}
	l.Grow(0)
	p.CaughtUp(t)
	whole(t, second.await(int(l.Log.Head().Sequence)-head), records(t, l)[head].Sequence)
}

// gate is a dialer that connects only while it is open.
type gate struct{ shut atomic.Bool }

func (g *gate) Dial(network, address string) (net.Conn, error) {
	if g.shut.Load() {
		return nil, errors.New("the gate is shut")
	}
	return net.Dial(network, address)
}

// TestWhoWasAwayWaitsForTheOneThatTookOver: a subscriber's connection breaks, and another one begins under the same
// name. The first one comes back, waits, and then goes on behind the events that the other took.
func TestWhoWasAwayWaitsForTheOneThatTookOver(t *testing.T) {
	for _, row := range []struct {
		sentence string
		filters  []nats.Filter
	}{
		{"all events", nil},
		{"those of Jobs", []nats.Filter{{Kind: nats.KindJob}}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			s := natstest.NewServer(t).Start()
			l := natstest.NewLedger(t, 1200).Grow(300)
			p := natstest.Publish(t, s, l.Log)
			p.CaughtUp(t)
			config := subscribe.Config{Durable: "d", Start: subscribe.All(), Filters: row.filters}
			all := func() (n int) {
				for _, r := range records(t, l) {
					if row.filters == nil || r.Stream.Kind == events.StreamJob {
						n++
					}
				}
				return n
			}
			var door gate
			away := s.JetStream(natsgo.SetCustomDialer(&door))
			first := start(t, away, config, nil)
			first.await(all())
			door.shut.Store(true)
			if err := away.Conn().ForceReconnect(); err != nil {
				t.Fatal(err)
			}
			before := all()
			second := start(t, s.JetStream(), config, nil)
			l.Grow(600)
			second.await(all() - before)
			door.shut.Store(false)
			first.says(t, "waiting until it ends")
			l.Grow(900)
			took := second.await(all() - before)
			if err := second.end(); err != nil {
				t.Fatal(err)
			}
			between := all()
			l.Grow(0)
			p.CaughtUp(t)
			got := first.await(before + all() - between)
			if len(got) != before+all()-between || len(second.events()) != between-before {
				t.Errorf("the first took %d events, want %d; the second %d, want %d", len(got), before+all()-between, len(second.events()), between-before)
			}
			got = append(got[:before:before], append(took, got[before:]...)...)
			i := 0
			for _, r := range records(t, l) {
				if row.filters != nil && r.Stream.Kind != events.StreamJob {
					continue
				}
				if e := got[i]; e.ID.Sequence != r.Sequence || e.Gap != (subscribe.Gap{}) {
					t.Fatalf("event %d is record %d (gap %q), want %d", i, e.ID.Sequence, e.Gap, r.Sequence)
				}
				i++
			}
		})
	}
}

// TestWhatAnotherTookMeanwhileIsReadNevertheless: two subscribers that begin at the same moment do not see each other.
// The other one takes and acknowledges what it can get. Ours has all events in order.
func TestWhatAnotherTookMeanwhileIsReadNevertheless(t *testing.T) {
	s := natstest.NewServer(t).Start()
	l := natstest.NewLedger(t, 3000).Grow(300)
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	js := s.JetStream()
	sub := start(t, js, subscribe.Config{Durable: "d", Start: subscribe.All(), MaxPending: 20}, nil)
	sub.await(100)
	other, err := s.JetStream().Consumer(t.Context(), stream, "d")
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	for n := 600; len(l.Left) > 0; n += 300 {
		l.Grow(n)
		batch, err := other.Fetch(10, jetstream.FetchMaxWait(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		for m := range batch.Messages() {
			if err := m.Ack(); err != nil {
				t.Fatal(err)
			}
			taken++
		}
	}
	// A message that the other one took last is noticed at the next message of ours.
	head := int(l.Log.Head().Sequence)
	natstest.Eventually(t, "all is taken", func() error {
		if got := sub.events(); int(got[len(got)-1].ID.Sequence) < head-10 {
			return fmt.Errorf("it is at %d", got[len(got)-1].ID.Sequence)
		}
		return nil
	})
	if taken < 10 {
		t.Errorf("the other one got %d messages only: this proves little", taken)
	}
	whole(t, sub.events(), 1)
}

// TestWhatOneThatWasKilledAcknowledgedIsNotMissing: a killed subscriber acknowledged 3 alone, so 1, 2 and 4 come again
// without it. The next one cannot know that 3 was taken, and gets it again.
func TestWhatOneThatWasKilledAcknowledgedIsNotMissing(t *testing.T) {
	s := natstest.NewServer(t).Start()
	js := makeStream(t, s)
	put(t, js, life, 1, timer(1, 0, jobA), timer(2, 1, jobA), timer(3, 2, jobA), timer(4, 3, jobA), timer(5, 4, jobA))
	first := start(t, js, subscribe.Config{Durable: "d", Start: subscribe.All()}, func(ctx context.Context, _ *subscribe.Event) error {
		<-ctx.Done()
		return ctx.Err()
	})
	natstest.Eventually(t, "the server remembers it, and all is delivered", func() error {
		c, err := js.Consumer(t.Context(), stream, "d")
		if err == nil && c.CachedInfo().NumAckPending < 5 {
			err = fmt.Errorf("%d are", c.CachedInfo().NumAckPending)
		}
		return err
	})
	if err := first.end(); err != nil {
		t.Fatal(err)
	}
	// The name of an acknowledgement: stream, consumer, tries, place, delivery, time, how many are left.
	if err := js.Conn().Publish("$JS.ACK."+stream+".d.1.3.3.1.0", []byte("+ACK")); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "3 is acknowledged", func() error {
		c, err := js.Consumer(t.Context(), stream, "d")
		if err == nil && c.CachedInfo().NumAckPending != 4 {
			err = fmt.Errorf("%d are pending", c.CachedInfo().NumAckPending)
		}
		return err
	})
	whole(t, start(t, js, subscribe.Config{Durable: "d"}, nil).await(5), 1)
}
