package subscribe_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	natsgo "github.com/nats-io/nats.go"

	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
)

// acknowledge tells the server that a delivery was taken. The subject of an acknowledgement has stream, consumer,
// tries, place, delivery, time, and how many are left. In these tests places and deliveries have the same numbers.
func acknowledge(t *testing.T, conn *natsgo.Conn, place int) {
	t.Helper()
	name := fmt.Sprintf("$JS.ACK.%s.d.1.%d.%d.1.0", stream, place, place)
	if _, err := conn.Request(name, []byte("+ACK"), patience.Time()); err != nil {
		t.Fatal(err)
	}
}

// TestAStateIsTrustedBeforeAcknowledgements: when the connection breaks, the server counts 3 as acknowledged, although
// no subscriber took it. The server never delivers 3 again, so the subscriber reads it from the stream.
func TestAStateIsTrustedBeforeAcknowledgements(t *testing.T) {
	s := natstest.NewServer(t).Start()
	js := makeStream(t, s)
	put(t, js, life, 1, timers(1, 3)...)
	hold, held := make(chan struct{}), make(chan struct{}, 1)
	state := stateFile(t, filepath.Join(t.TempDir(), "state"))
	config := subscribe.Config{Durable: "d", Start: subscribe.All(), State: state}
	sub := start(t, s.JetStream(), config, func(_ context.Context, e *subscribe.Event) error {
		if e.ID.Sequence != 2 {
			return nil
		}
		held <- struct{}{}
		<-hold
		return nil
	})
	<-held
	natstest.Eventually(t, "2 and 3 are delivered", func() error {
		c, err := js.Consumer(t.Context(), stream, "d")
		if err == nil && c.CachedInfo().NumAckPending < 2 {
			err = errors.New("they are not")
		}
		return err
	})
	acknowledge(t, js.Conn(), 2)
	acknowledge(t, js.Conn(), 3)
	s.Stop()
	s.Start()
	close(hold)
	js = s.JetStream()
	put(t, js, life, 1, timers(4, 5)...)
	whole(t, sub.await(5), 1)
}
