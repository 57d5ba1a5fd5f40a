package subscribe_test

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// TestADurableSubscriptionRemembersWhichRecordItBeginsWith: a subscriber ends before that record was published. The
// next Run has no setting for the beginning, and still waits for that record.
func TestADurableSubscriptionRemembersWhichRecordItBeginsWith(t *testing.T) {
	for _, row := range []struct {
		sentence string
		start    subscribe.Start
		there    int // records that are in the stream when it is made
		between  int // those that are published, and passed over, before it ends
	}{
		{"a sequence, of an empty stream", subscribe.From(4), 0, 0},
		{"a sequence, of an empty stream, others come", subscribe.From(4), 0, 2},
		{"after a record, of an empty stream", subscribe.After(nats.ID{Log: life, Sequence: 3}), 0, 0},
		{"after a record, of an empty stream, others come", subscribe.After(nats.ID{Log: life, Sequence: 3}), 0, 2},
		{"a sequence to come", subscribe.From(4), 1, 0},
		{"a sequence to come, another comes", subscribe.From(4), 1, 1},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			s := natstest.NewServer(t).Start()
			js := makeStream(t, s)
			newest := events.Sequence(0)
			publish := func(n int) {
				for range n {
					newest++
					put(t, js, life, 1, timer(newest, newest-1, jobA))
				}
			}
			publish(row.there)
			sub := start(t, js, subscribe.Config{Durable: "d", Start: row.start}, nil)
			natstest.Eventually(t, "it subscribes", func() error { return consumers(js, 1) })
			publish(row.between)
			natstest.Eventually(t, "it passes them over", func() error {
				c, err := js.Consumer(t.Context(), stream, "d")
				if err != nil {
					return err
				}
				if got := c.CachedInfo().AckFloor.Consumer; got < uint64(row.between) {
					return fmt.Errorf("%d acknowledged", got)
				}
				return nil
			})
			if err := sub.end(); err != nil {
				t.Fatal(err)
			}
			next := start(t, js, subscribe.Config{Durable: "d"}, nil)
			publish(6 - int(newest))
			whole(t, next.await(3), 4)
			if err := next.end(); err != nil {
				t.Fatal(err)
			}
			again := start(t, js, subscribe.Config{Durable: "d"}, nil)
			publish(2)
			whole(t, again.await(2), 7)
		})
	}
}
